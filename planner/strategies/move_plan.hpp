// Which rows move where, so that the queries of one group meet the keys that they need and another group holds: either the keys
// and values go to the queries, or the queries to the keys. Computed on intervals, the same on every rank.
//
//   moving kv   forward: k, v there                   backward: (k, v there again) d_k, d_v home
//   moving q    forward: q there, o and lse home      backward: (q there again) d_o, lse, delta there, d_q home
//
// Moves are put into stages, in which communication hides behind attention, and into rounds without contention. Those inside a
// node and those between nodes use different ports: they have rounds and a stream of their own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planner/strategies/program_builder.hpp"

namespace hsap {

/// Keys that queries of one group see and another group holds.
struct Need {
  int query_group = 0;
  int key_group = 0;
  TokenSet keys;
};

/// Calls visit(Need) for each group and each holder of keys that its queries see and it does not hold, query groups ascending.
/// The sets of the groups are disjoint. Time: ranges of all sets and of the needs.
void for_each_need(const DocumentMask& mask, const std::vector<TokenSet>& groups, const std::function<void(Need)>& visit);
/// The queries that see those keys.
TokenSet queries_of(const Need& need, const DocumentMask& mask, const std::vector<TokenSet>& groups);

/// Choices of an exchange of what documents need.
struct ExchangeRules {
  /// What moves for the queries of one group and the keys of another; `cheaper` looks at bytes only, not at who has time.
  std::function<Moving(int query_group, int key_group)> moving = [](int, int) { return Moving::kv; };
  /// In how many steps a group attends to what is not its own; >= 1.
  int stages = 1;
  /// The stage of the rows that meet, 0 .. stages-1; empty: as few rounds as possible, split into stages of about equal bytes.
  std::function<int(int query_group, int key_group)> stage_of = {};
  /// What was received in forward, keys and values or queries, in backward.
  KvForBackward kv = KvForBackward::kept;
  /// d_k and d_v on the wire; nullopt: the model's.
  std::optional<DType> d_kv = {};
};

/// Heads of all members of a group together; a kv head that several members hold counts each time.
struct GroupHeads {
  int query_heads = 0;
  int kv_heads = 0;
};

/// Bytes that a row costs, all members of a group together: moving there and back, forward and backward. qk, v = widths of a
/// head, e = bytes of the model's dtype, d = of d_k, d_v on the wire; what is sent again counts twice.
/// A key and value: kv_heads (qk + v) (e + d).
double bytes_of_moving_kv(const AttentionShape& shape, const GroupHeads& heads, const ExchangeRules& rules);
/// A query: query_heads (2 qk e + 2 v e + 12): q and d_q, o and d_o, lse twice and delta in fp32.
double bytes_of_moving_q(const AttentionShape& shape, const GroupHeads& heads, const ExchangeRules& rules);

/// Streams of the moves inside a node and between nodes. The head exchange runs inside a node too: on one stream with the moves
/// there, a rank never has two of them on its ports.
inline constexpr int kInsideNode = kCommunicationStream;
inline constexpr int kBetweenNodes = kCommunicationStream + 1;

/// Rows of group `from` that go to group `to`, whose results come back.
struct Move {
  Moving what = Moving::kv;  ///< kv or q
  int from = 0;
  int to = 0;
  TokenSetId rows = 0;
  int stage = 0;
  int stream = kInsideNode;
  int round = 0;  ///< of its stream, ascending with the stages
};

/// What rules.moving says for the need, `cheaper` decided: q when that is fewer bytes, else kv.
Moving decide(const Need& need, const DocumentMask& mask, const std::vector<TokenSet>& groups, const AttentionShape& shape,
              const GroupHeads& heads, const ExchangeRules& rules);

/// The moves in the order of their exchanges: by stage, stream and round. Within a round no group sends twice or receives
/// twice. node_of_group tells which moves stay inside a node.
std::vector<Move> plan_moves(ProgramBuilder& builder, const std::vector<TokenSet>& groups, const GroupHeads& heads,
                             const std::vector<int>& node_of_group, const ExchangeRules& rules);

}  // namespace hsap
