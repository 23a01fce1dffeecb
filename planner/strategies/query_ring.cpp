#include "planner/strategies/query_ring.hpp"

#include <optional>
#include <utility>

namespace hsap {

namespace {

/// What backward needs of the rows of one place, on some rank.
struct Queries {
  Slice q, d_o, delta, lse;
};

class QueryRing {
 public:
  QueryRing(ProgramBuilder& builder, RingPass& ring) : builder_(builder), map_(ring.map()), members_(ring.members()) {}

  void backward() {
    std::vector<Queries> here;
    std::vector<Slice> gradients;  // d_q of the queries here
    for (std::size_t place = 0; place < size(); ++place) {
      here.push_back(own_queries(place));
      gradients.push_back(room(place, Role::d_q, model_dtype(), place, "d_q"));
      sums_.push_back(
          {room(place, Role::d_k, DType::fp32, place, "d_k sum"), room(place, Role::d_v, DType::fp32, place, "d_v sum")});
    }
    for (std::size_t step = 0; step < size(); ++step) {
      std::vector<Queries> coming;
      if (step + 1 < size()) coming = pass_queries(step, here);
      for (std::size_t place = 0; place < size(); ++place) differentiate(step, place, here[place], gradients[place]);
      if (size() > 1) gradients = pass_gradients(step, gradients);
      here = std::move(coming);
    }
    for (std::size_t place = 0; place < size(); ++place) finish(place, gradients[place]);
  }

 private:
  std::size_t size() const { return map_.size(); }
  static int number(std::size_t step) { return static_cast<int>(step); }
  const View& view(std::size_t place) const { return map_.view(place); }
  DType model_dtype() const { return builder_.shape().dtype; }
  bool holds_tokens(std::size_t place) const { return !builder_.tokens(view(place).tokens).empty(); }
  std::size_t source(std::size_t place, std::size_t step) const { return (place + size() - step % size()) % size(); }
  static Slice rows(const Slice& slice, TokenSetId tokens) { return {slice.buffer, tokens, slice.heads}; }

  /// A buffer on the rank of `place` for the rows of `source`.
  Slice room(std::size_t place, Role role, DType dtype, std::size_t source, const char* name) {
    return room(place, role, dtype, view(source).tokens, name);
  }
  Slice room(std::size_t place, Role role, DType dtype, TokenSetId tokens, const char* name) {
    const View& v = view(place);
    const HeadRange heads = has_query_heads(role) ? v.query_heads : v.kv_heads;
    return builder_.whole(v.rank, builder_.add_buffer(v.rank, role, dtype, tokens, heads, name));
  }

  Queries own_queries(std::size_t place) {
    const View& v = view(place);
    const auto own = [&](BufferId buffer) { return builder_.rows(v.rank, buffer, v.tokens); };
    const Queries queries{own(v.q), own(v.d_o), room(place, Role::delta, DType::fp32, place, "delta"), members_[place].lse()};
    if (holds_tokens(place)) builder_.compute(v.rank, Phase::backward, 0, Delta{own(v.o), queries.d_o, queries.delta});
    return queries;
  }

  std::vector<Queries> pass_queries(std::size_t step, const std::vector<Queries>& here) {
    std::vector<Queries> coming;
    for (std::size_t place = 0; place < size(); ++place) {
      const std::size_t from = source(place, step + 1);
      coming.push_back(
          {room(place, Role::q, model_dtype(), from, "q hop"), room(place, Role::d_o, model_dtype(), from, "d_o hop"),
           room(place, Role::delta, DType::fp32, from, "delta hop"), room(place, Role::lse, DType::fp32, from, "lse hop")});
    }
    const auto parts = [](const Queries& q) { return std::vector<Slice>{q.q, q.d_o, q.delta, q.lse}; };
    std::vector<Hop> hops;
    for (std::size_t place = 0; place < size(); ++place) {
      const std::size_t to = (place + 1) % size();
      hops.push_back({map_.rank(place), map_.rank(to), parts(here[place]), parts(coming[to])});
    }
    pass_directly(builder_, Phase::backward, number(step), hops);
    return coming;
  }

  std::vector<Slice> pass_gradients(std::size_t step, const std::vector<Slice>& gradients) {
    std::vector<Slice> arriving;
    for (std::size_t place = 0; place < size(); ++place)
      arriving.push_back(room(place, Role::d_q, model_dtype(), source(place, step + 1), "d_q hop"));
    std::vector<Hop> hops;
    for (std::size_t place = 0; place < size(); ++place) {
      const std::size_t to = (place + 1) % size();
      hops.push_back({map_.rank(place), map_.rank(to), {gradients[place]}, {arriving[to]}});
    }
    pass_directly(builder_, Phase::backward, number(step), hops);
    return arriving;
  }

  /// The queries that are here against this rank's keys. Its own come first: they write every row of d_q and of the sums.
  void differentiate(std::size_t step, std::size_t place, const Queries& here, const Slice& d_q) {
    const RingWork work = map_.work(source(place, step), place);
    if (builder_.tokens(work.keys).empty()) return;
    const View& v = view(place);
    const auto keys = [&](BufferId buffer) { return builder_.rows(v.rank, buffer, work.keys); };
    const auto attend = [&](const Slice& into_q, const Slice& into_k, const Slice& into_v) {
      builder_.compute(v.rank, Phase::backward, number(step),
                       AttendBackward{rows(here.q, work.queries), keys(v.k), keys(v.v), rows(here.delta, work.queries),
                                      rows(here.lse, work.queries), rows(here.d_o, work.queries), into_q, into_k, into_v});
    };
    const Block& sum = sums_[place];
    if (step == 0) return attend(d_q, sum.k, sum.v);
    const Slice part_q = room(place, Role::d_q, model_dtype(), work.queries, "d_q part");
    const Slice part_k = room(place, Role::d_k, model_dtype(), work.keys, "d_k part");
    const Slice part_v = room(place, Role::d_v, model_dtype(), work.keys, "d_v part");
    attend(part_q, part_k, part_v);
    builder_.compute(
        v.rank, Phase::backward, number(step),
        Accumulate{{{part_q, rows(d_q, work.queries)}, {part_k, rows(sum.k, work.keys)}, {part_v, rows(sum.v, work.keys)}}});
  }

  void finish(std::size_t place, const Slice& d_q) {
    const View& v = view(place);
    const auto own = [&](BufferId buffer) { return builder_.rows(v.rank, buffer, v.tokens); };
    builder_.compute(v.rank, Phase::backward, number(size()),
                     Copy{{{d_q, own(v.d_q)}, {sums_[place].k, own(v.d_k)}, {sums_[place].v, own(v.d_v)}}});
  }

  ProgramBuilder& builder_;
  RingMap& map_;
  std::vector<RingMember>& members_;
  std::vector<Block> sums_;  // [place] d_k, d_v of its keys
};

}  // namespace

void query_ring_backward(ProgramBuilder& builder, RingPass& ring) { QueryRing(builder, ring).backward(); }

}  // namespace hsap
