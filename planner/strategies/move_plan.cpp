#include "planner/strategies/move_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "planner/strategies/edge_colouring.hpp"

namespace hsap {

namespace {

/// A move and the bytes of its message in forward.
struct SizedMove {
  Move* move;
  std::int64_t bytes;
};

/// Gives moves rounds without contention, from `first` on. Returns the bytes of each round's largest message.
std::vector<std::int64_t> colour(std::vector<SizedMove>& moves, int groups, int first) {
  std::stable_sort(moves.begin(), moves.end(), [](const SizedMove& a, const SizedMove& b) { return a.bytes > b.bytes; });
  std::vector<MessageEdge> edges;
  for (const SizedMove& sized : moves) edges.push_back({sized.move->from, sized.move->to});
  const std::vector<int> colours = colour_edges(edges, groups);
  std::vector<std::int64_t> length;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto round = static_cast<std::size_t>(colours[i]);
    moves[i].move->round = first + colours[i];
    if (round >= length.size()) length.resize(round + 1, 0);
    length[round] = std::max(length[round], moves[i].bytes);
  }
  return length;
}

/// Rounds first, then stages of about equal bytes.
void split_rounds_into_stages(std::vector<SizedMove>& moves, int groups, int stages) {
  const std::vector<std::int64_t> length = colour(moves, groups, 0);
  const std::int64_t total = std::accumulate(length.begin(), length.end(), std::int64_t{0});
  std::vector<int> stage_of(length.size());
  std::int64_t before = 0;
  for (std::size_t round = 0; round < length.size(); ++round) {
    stage_of[round] = static_cast<int>((before + length[round] / 2) * stages / total);  // by the middle of the round
    before += length[round];
  }
  for (const SizedMove& sized : moves) sized.move->stage = stage_of[static_cast<std::size_t>(sized.move->round)];
}

/// Rounds inside the stages that the moves have.
void colour_stages(const std::vector<SizedMove>& moves, int groups) {
  std::map<int, std::vector<SizedMove>> by_stage;
  for (const SizedMove& sized : moves) by_stage[sized.move->stage].push_back(sized);
  int first = 0;
  for (auto& [stage, of_stage] : by_stage) first += static_cast<int>(colour(of_stage, groups, first).size());
}

double times_sent(const ExchangeRules& rules) { return rules.kv == KvForBackward::again ? 2 : 1; }

}  // namespace

void for_each_need(const DocumentMask& mask, const std::vector<TokenSet>& groups, const std::function<void(Need)>& visit) {
  struct Owned {
    TokenRange range;
    int group;
  };
  std::vector<Owned> owners;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const TokenRange& range : groups[g].ranges()) owners.push_back({range, static_cast<int>(g)});
  std::sort(owners.begin(), owners.end(), [](const Owned& a, const Owned& b) { return a.range.begin < b.range.begin; });

  std::vector<std::vector<TokenRange>> wanted(groups.size());  // by owner, of the group at hand
  std::vector<int> asked;                                      // owners with something in `wanted`
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const TokenSet missing = difference(mask.keys_seen_by(groups[g]), groups[g]);
    for (const TokenRange& range : missing.ranges()) {
      auto owner = std::upper_bound(owners.begin(), owners.end(), range.begin,
                                    [](Token token, const Owned& o) { return token < o.range.end; });
      for (; owner != owners.end() && owner->range.begin < range.end; ++owner) {
        auto& list = wanted[static_cast<std::size_t>(owner->group)];
        if (list.empty()) asked.push_back(owner->group);
        list.push_back({std::max(range.begin, owner->range.begin), std::min(range.end, owner->range.end)});
      }
    }
    for (const int holder : asked) {
      auto& list = wanted[static_cast<std::size_t>(holder)];
      visit({static_cast<int>(g), holder, TokenSet(std::move(list))});
      list.clear();
    }
    asked.clear();
  }
}

TokenSet queries_of(const Need& need, const DocumentMask& mask, const std::vector<TokenSet>& groups) {
  return intersection(groups[static_cast<std::size_t>(need.query_group)], mask.queries_seeing(need.keys));
}

double bytes_of_moving_kv(const AttentionShape& shape, const GroupHeads& heads, const ExchangeRules& rules) {
  const double model = bytes_per_element(shape.dtype);
  const double gradient = bytes_per_element(rules.d_kv.value_or(shape.dtype));
  return heads.kv_heads * (shape.qk_dim + shape.v_dim) * (times_sent(rules) * model + gradient);
}

double bytes_of_moving_q(const AttentionShape& shape, const GroupHeads& heads, const ExchangeRules& rules) {
  const double model = bytes_per_element(shape.dtype);
  const double statistics = 3 * bytes_per_element(DType::fp32);  // lse home, lse and delta there
  return heads.query_heads * ((times_sent(rules) + 1) * shape.qk_dim * model + 2 * shape.v_dim * model + statistics);
}

Moving decide(const Need& need, const DocumentMask& mask, const std::vector<TokenSet>& groups, const AttentionShape& shape,
              const GroupHeads& heads, const ExchangeRules& rules) {
  const Moving rule = rules.moving(need.query_group, need.key_group);
  if (rule != Moving::cheaper) return rule;
  const auto bytes = [](double per_row, const TokenSet& rows) { return per_row * static_cast<double>(rows.size()); };
  const bool q_is_cheaper = bytes(bytes_of_moving_q(shape, heads, rules), queries_of(need, mask, groups)) <
                            bytes(bytes_of_moving_kv(shape, heads, rules), need.keys);
  return q_is_cheaper ? Moving::q : Moving::kv;
}

std::vector<Move> plan_moves(ProgramBuilder& builder, const std::vector<TokenSet>& groups, const GroupHeads& heads,
                             const std::vector<int>& node_of_group, const ExchangeRules& rules) {
  const AttentionShape& shape = builder.shape();
  const auto node = [&](int group) { return node_of_group[static_cast<std::size_t>(group)]; };
  std::vector<Move> moves;
  for_each_need(builder.mask(), groups, [&](const Need& need) {
    Move move;
    move.what = decide(need, builder.mask(), groups, shape, heads, rules);
    const bool keys_move = move.what == Moving::kv;
    move.from = keys_move ? need.key_group : need.query_group;
    move.to = keys_move ? need.query_group : need.key_group;
    if (rules.stage_of) move.stage = rules.stage_of(need.query_group, need.key_group);
    move.stream = node(move.from) == node(move.to) ? kInsideNode : kBetweenNodes;
    move.rows = builder.intern(keys_move ? need.keys : queries_of(need, builder.mask(), groups));
    moves.push_back(move);
  });

  const auto element = static_cast<std::int64_t>(bytes_per_element(shape.dtype));
  for (const int stream : {kInsideNode, kBetweenNodes}) {
    std::vector<SizedMove> sized;
    for (Move& move : moves) {
      if (move.stream != stream) continue;
      const int elements =
          move.what == Moving::kv ? heads.kv_heads * (shape.qk_dim + shape.v_dim) : heads.query_heads * shape.qk_dim;
      sized.push_back({&move, builder.tokens(move.rows).size() * elements * element});
    }
    if (rules.stage_of)
      colour_stages(sized, static_cast<int>(groups.size()));
    else
      split_rounds_into_stages(sized, static_cast<int>(groups.size()), rules.stages);
  }
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return std::tie(a.stage, a.stream, a.round, a.from) < std::tie(b.stage, b.stream, b.round, b.from);
  });
  return moves;
}

}  // namespace hsap
