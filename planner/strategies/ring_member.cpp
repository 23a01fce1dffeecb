#include "planner/strategies/ring_member.hpp"

#include <algorithm>
#include <utility>

namespace hsap {

RingPlace place_whole(ProgramBuilder&, const View& view) { return {view, {view.tokens}, true}; }

RingPlace place_scattered(ProgramBuilder&, const View& view) { return {view, {view.tokens}, false}; }

RingPlace place_by_halves(ProgramBuilder& builder, const View& view) {
  std::vector<TokenRange> first_halves;
  for (std::size_t d = 0; d < builder.mask().documents(); ++d) {
    const TokenRange document = builder.mask().document(d);
    first_halves.push_back({document.begin, document.begin + document.size() / 2});
  }
  const TokenSet early = intersection(builder.tokens(view.tokens), TokenSet(std::move(first_halves)));
  const TokenSet late = difference(builder.tokens(view.tokens), early);
  return {view, {builder.intern(early), builder.intern(late)}, false};
}

RingMap::RingMap(ProgramBuilder& builder, std::vector<RingPlace> places) : builder_(builder), places_(std::move(places)) {
  for (const RingPlace& place : places_) {
    std::vector<TokenSet>& seen = seen_.emplace_back();
    for (const TokenSetId part : place.parts) seen.push_back(builder.mask().keys_seen_by(builder.tokens(part)));
  }
}

RingWork RingMap::work(std::size_t query_place, std::size_t key_place) {
  const RingPlace& here = places_[query_place];
  const RingPlace& block = places_[key_place];
  if (query_place == key_place) return {here.view.tokens, here.view.tokens};
  const std::vector<TokenSet>& seen = seen_[query_place];
  std::vector<bool> uses_part(here.parts.size(), false), uses_key(block.parts.size(), false);
  for (std::size_t i = 0; i < here.parts.size(); ++i)
    for (std::size_t j = 0; j < block.parts.size(); ++j)
      if (seen[i].intersects(builder_.tokens(block.parts[j]))) uses_part[i] = uses_key[j] = true;
  RingWork work{chosen(here, uses_part), chosen(block, uses_key)};
  if (!here.cut || builder_.tokens(work.keys).empty()) return work;
  TokenSet keys = intersection(builder_.tokens(work.keys), seen.front());
  TokenSet queries = intersection(builder_.tokens(work.queries), builder_.mask().queries_seeing(keys));
  return {builder_.intern(std::move(queries)), builder_.intern(std::move(keys))};
}

TokenSetId RingMap::chosen(const RingPlace& place, const std::vector<bool>& uses) {
  if (std::find(uses.begin(), uses.end(), false) == uses.end()) return place.view.tokens;
  TokenSet tokens;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i]) tokens = set_union(tokens, builder_.tokens(place.parts[i]));
  return builder_.intern(std::move(tokens));
}

RingMember::RingMember(ProgramBuilder& builder, RingMap& map, std::size_t place)
    : builder_(&builder), map_(&map), place_(place) {
  for (std::size_t source = 0; source < map.size(); ++source) work_.push_back(map.work(place, source));
  for (std::size_t source = 0; source < map.size(); ++source) pieces_ += has_work(source);
}

Block RingMember::own_block() const {
  const View& v = view();
  return {builder_->rows(v.rank, v.k, v.tokens), builder_->rows(v.rank, v.v, v.tokens)};
}

Slice RingMember::new_buffer(Role role, DType dtype, TokenSetId tokens, const char* name) {
  const HeadRange heads = has_query_heads(role) ? view().query_heads : view().kv_heads;
  return builder_->whole(view().rank, builder_->add_buffer(view().rank, role, dtype, tokens, heads, name));
}

Block RingMember::new_block(std::size_t source, const char* name) {
  const TokenSetId tokens = map_->view(source).tokens;
  const DType dtype = builder_->shape().dtype;
  return {new_buffer(Role::k, dtype, tokens, name), new_buffer(Role::v, dtype, tokens, name)};
}

Block RingMember::new_gradient(std::size_t source, DType dtype, const char* name) {
  const TokenSetId tokens = map_->view(source).tokens;
  return {new_buffer(Role::d_k, dtype, tokens, name), new_buffer(Role::d_v, dtype, tokens, name)};
}

void RingMember::attend(int step, std::size_t source, const Block& kv) {
  if (!output_) output_.emplace(*builder_, view(), pieces_);
  const RingWork& work = work_[source];
  if (has_work(source)) output_->attend(step, work.queries, rows(kv.k, work.keys), rows(kv.v, work.keys));
}

void RingMember::finish_forward(int step) {
  if (pieces_ > 0) output_->finish(step);
  lse_ = output_->lse();
}

void RingMember::start_gradient(int step, std::size_t source, const Block& kv, const Block& gradient) {
  if (!d_q_) d_q_.emplace(*builder_, view(), lse_, pieces_);
  if (builder_->tokens(kv.k.tokens).empty()) return;
  // The piece that starts the sum covers every row, so that no other has to wait for it.
  const TokenSetId queries = has_work(source) && !d_q_->started() ? view().tokens : work_[source].queries;
  d_q_->attend(step, queries, kv.k, kv.v, gradient.k, gradient.v);
}

void RingMember::add_gradient(int step, std::size_t source, const Block& kv, const Block& gradient) {
  if (!d_q_) d_q_.emplace(*builder_, view(), lse_, pieces_);
  if (!has_work(source)) return;
  const auto& [queries, keys] = work_[source];
  const Block part{new_buffer(Role::d_k, builder_->shape().dtype, keys, "d_k part"),
                   new_buffer(Role::d_v, builder_->shape().dtype, keys, "d_v part")};
  d_q_->attend(step, queries, rows(kv.k, keys), rows(kv.v, keys), part.k, part.v);
  builder_->compute(view().rank, Phase::backward, step,
                    Accumulate{{{part.k, rows(gradient.k, keys)}, {part.v, rows(gradient.v, keys)}}});
}

void RingMember::finish_backward(int step, const Block& own_gradient) {
  if (!holds_tokens()) return;
  d_q_->finish(step);
  const View& v = view();
  builder_->compute(v.rank, Phase::backward, step,
                    Copy{{{own_gradient.k, builder_->rows(v.rank, v.d_k, v.tokens)},
                          {own_gradient.v, builder_->rows(v.rank, v.d_v, v.tokens)}}});
}

}  // namespace hsap
