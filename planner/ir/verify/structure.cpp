#include "planner/ir/verify/structure.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/ir/verify/happens_before.hpp"
#include "planner/ir/verify/op_structure.hpp"
#include "planner/ir/verify/place.hpp"

namespace hsap::proof {

namespace {

int heads_of(Role role, const AttentionShape& shape) { return has_query_heads(role) ? shape.query_heads : shape.kv_heads; }

void check_shape(const Schedule& schedule) {
  const AttentionShape& shape = schedule.shape;
  const auto positive = [](const char* name, int value) {
    if (value < 1)
      throw InvalidInput(std::string("attention shape: ") + name + " is " + std::to_string(value) + ", expected at least 1");
  };
  positive("query_heads", shape.query_heads);
  positive("kv_heads", shape.kv_heads);
  positive("qk_dim", shape.qk_dim);
  positive("v_dim", shape.v_dim);
  if (shape.query_heads % shape.kv_heads != 0)
    throw InvalidInput("attention shape: " + std::to_string(shape.kv_heads) + " kv heads do not divide " +
                       std::to_string(shape.query_heads) + " query heads");
  if (shape.query_heads > kMaxHeads)
    throw InvalidInput("attention shape: " + std::to_string(shape.query_heads) + " query heads, at most " +
                       std::to_string(kMaxHeads) + " are served");
  check_decay(shape);
  if (shape.mask != schedule.mask.rule())
    throw InvalidInput("attention shape: its mask rule is \"" + to_string(shape.mask) + "\", the batch's is \"" +
                       to_string(schedule.mask.rule()) + "\"");
}

void check_degrees(const Schedule& schedule) {
  const Degrees& degrees = schedule.degrees;
  if (schedule.ranks.empty()) throw InvalidInput("schedule: has no rank");
  if (degrees.intra < 1 || degrees.inter < 1 ||
      static_cast<std::size_t>(degrees.intra) * static_cast<std::size_t>(degrees.inter) != schedule.ranks.size())
    throw InvalidInput("schedule: degrees " + to_string(degrees) + " do not make " + std::to_string(schedule.ranks.size()) +
                       " ranks");
}

void check_token_sets(const Schedule& schedule) {
  const Token tokens = schedule.mask.tokens();
  for (std::size_t id = 0; id < schedule.token_sets.size(); ++id) {
    const Ranges ranges = schedule.token_sets[id].ranges();
    if (!ranges.empty() && (ranges.front().begin < 0 || ranges.back().end > tokens))
      throw InvalidInput("token sets: set " + std::to_string(id) + " reaches from " + std::to_string(ranges.front().begin) +
                         " to " + std::to_string(ranges.back().end) + ", the batch from 0 to " + std::to_string(tokens));
  }
}

void check_buffers(const Schedule& schedule, RankId rank) {
  const auto& buffers = schedule.ranks[rank].buffers;
  for (BufferId id = 0; id < buffers.size(); ++id) {
    const Buffer& buffer = buffers[id];
    const auto where = [&] { return "rank " + std::to_string(rank) + ": " + describe_buffer(schedule, rank, id); };
    if (buffer.tokens >= schedule.token_sets.size())
      throw InvalidInput(where() + " has token set " + std::to_string(buffer.tokens) + ", there are " +
                         std::to_string(schedule.token_sets.size()));
    const int all = heads_of(buffer.role, schedule.shape);
    if (buffer.heads.begin < 0 || buffer.heads.end <= buffer.heads.begin || buffer.heads.end > all)
      throw InvalidInput(where() + " has " + std::to_string(buffer.heads.begin) + " to " + std::to_string(buffer.heads.end) +
                         " as heads, expected a part of the layer's 0 to " + std::to_string(all));
    if ((buffer.role == Role::lse || buffer.role == Role::delta) && schedule.shape.kind == AttentionKind::linear)
      throw InvalidInput(where() + ": linear attention has no lse");
    if (is_state(buffer.role) && schedule.shape.kind == AttentionKind::softmax)
      throw InvalidInput(where() + ": softmax attention has no state");
    if (is_state(buffer.role) && schedule.mask.rule() != MaskRule{})
      throw InvalidInput(where() + ": a state sums all earlier tokens of a document, which is the causal mask rule; found \"" +
                         to_string(schedule.mask.rule()) + "\"");
    const Ranges ranges = schedule.tokens(buffer.tokens).ranges();
    if (is_state(buffer.role) && ranges.size() > 1)
      throw InvalidInput(where() + " sums tokens " + describe(schedule.tokens(buffer.tokens)) +
                         ", expected one range: a state decays by distances that a gap would falsify");
  }
}

void check_boundary(const Schedule& schedule, RankId rank) {
  const RankProgram& program = schedule.ranks[rank];
  const RankBoundary& boundary = program.boundary;
  const auto check = [&](BufferId id, Role role) {
    const std::string name = "rank " + std::to_string(rank) + ": boundary " + hsap::to_string(role);
    if (id >= program.buffers.size())
      throw InvalidInput(name + " is buffer " + std::to_string(id) + ", there are " + std::to_string(program.buffers.size()));
    const Buffer& buffer = program.buffers[id];
    if (buffer.role != role) throw InvalidInput(name + " is " + describe_buffer(schedule, rank, id));
    const int all = heads_of(role, schedule.shape);
    if (buffer.heads != HeadRange{0, all})
      throw InvalidInput(name + " has " + describe(buffer.heads) + ", expected all " + std::to_string(all));
    if (buffer.tokens != program.tokens)
      throw InvalidInput(name + " holds tokens " + describe(schedule.tokens(buffer.tokens)) + ", the rank owns " +
                         describe(schedule.tokens(program.tokens)));
  };
  check(boundary.q, Role::q), check(boundary.k, Role::k), check(boundary.v, Role::v), check(boundary.o, Role::o);
  check(boundary.d_o, Role::d_o), check(boundary.d_q, Role::d_q), check(boundary.d_k, Role::d_k),
      check(boundary.d_v, Role::d_v);
}

void check_op_list(const Schedule& schedule, RankId rank, Phase phase) {
  const auto& ops = ops_of(schedule.ranks[rank], phase);
  for (OpIndex position = 0; position < ops.size(); ++position) {
    const Op& op = ops[position];
    const Place place{schedule, rank, phase, op};
    if (op.id != position)
      refuse(place, "stands at position " + std::to_string(position) + " of its list; id and position must be equal");
    if (op.stream < 0 || op.stream >= kMaxStreams)
      refuse(place, "runs on stream " + std::to_string(op.stream) + ", expected 0 to " + std::to_string(kMaxStreams - 1));
    const bool communicates = std::holds_alternative<Exchange>(op.body);
    if (communicates == (op.stream == kComputeStream))
      refuse(place,
             "runs on stream " + std::to_string(op.stream) + "; exchanges run on streams from 1 on, everything else on 0");
    for (const OpIndex earlier : op.after)
      if (earlier >= position)
        refuse(place, "is to run after op " + std::to_string(earlier) + "; `after` may name earlier ops of the list only");
  }
}

}  // namespace

HeadRange kv_heads_of(const HeadRange& query_heads, const AttentionShape& shape) {
  const int group = shape.queries_per_kv_head();
  return {query_heads.begin / group, (query_heads.end - 1) / group + 1};
}

void check_layer(const Schedule& schedule) {
  check_shape(schedule);
  check_degrees(schedule);
  check_token_sets(schedule);
}

void check_ownership(const Schedule& schedule, TokenCounts& counts) {
  std::vector<TokenSetId> owned;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    owned.push_back(schedule.ranks[rank].tokens);
    if (owned.back() >= schedule.token_sets.size())
      throw InvalidInput("rank " + std::to_string(rank) + ": owns token set " + std::to_string(owned.back()) + ", there are " +
                         std::to_string(schedule.token_sets.size()));
  }
  if (schedule.mask.tokens() == 0) return;
  if (const auto found = first_not_once(counts.count(owned), 0, schedule.mask.tokens()))
    throw InvalidInput("ownership: token " + std::to_string(found->first) + " is owned by " + std::to_string(found->second) +
                       " ranks, expected exactly one");
}

void check_programs(const Schedule& schedule, TokenAlgebra& sets) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    check_buffers(schedule, rank);
    check_boundary(schedule, rank);
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      check_op_list(schedule, rank, phase);
      for (const Op& op : ops_of(schedule.ranks[rank], phase)) check_op({schedule, rank, phase, op}, sets);
    }
  }
}

}  // namespace hsap::proof
