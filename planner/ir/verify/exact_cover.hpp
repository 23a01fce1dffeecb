// The heart of the proof: does a sum of partial attentions hold every (query, key) pair of its rows exactly once?
//
// Rows [a, b) of one document [s, e) see, together, at most two intervals of keys: from the first key that row a sees to the
// last that row b - 1 sees, and the sinks before them (mask_rule.hpp). A sum of partial attentions is right for those rows if
// and only if its key sets, clipped to these intervals, tile them exactly once. Our derivation: a row x sees [lo(x), hi(x)),
// neither bound descends, and lo(x + 1) <= x + 1 <= hi(x), so the union over [a, b) is [lo(a), hi(b - 1)) without a hole and
// every key of it is seen by some row, hence must occur once; and what each single row sees lies in the intervals. A sink
// before lo(a) is seen by row a itself. Keys outside do no harm, because every partial attention runs under the mask.
//
// For gradients of keys [a, b) the same holds of the queries that see them, taken apart for sinks and other keys: key x is seen
// by the queries [f(x), g(x)) with bounds that do not descend and f(x) <= x < g(x), where g(x) = e for a sink. So the proof
// counts intervals, never tokens or pairs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/verify/pair_memo.hpp"
#include "planner/ir/verify/token_algebra.hpp"
#include "planner/ir/verify/token_counts.hpp"
#include "planner/ir/verify/values.hpp"

namespace hsap::proof {

enum class Direction {
  keys_of_queries,  ///< rows are queries, terms are keys: o, lse, d_q
  queries_of_keys,  ///< rows are keys, terms are queries: d_k, d_v
};

/// A pair that does not enter exactly once, or a partial result that enters twice (an error even where no pair shows it).
struct Gap {
  Token row = 0;    ///< a row of the value
  Token other = 0;  ///< a key (or query) that this row sees
  int query_head = 0;
  std::int64_t times = 0;                ///< how often the pair enters
  std::optional<TokenSetId> twice = {};  ///< the keys (or queries) of the partial result that enters twice
};

class ExactCover {
 public:
  ExactCover(const DocumentMask& mask, const TokenAlgebra& sets, const Values& values, TokenCounts& counts)
      : mask_(mask), sets_(sets), values_(values), counts_(counts) {}

  /// A pair of `rows` x (what they see), for one of `query_heads`, that does not enter `value` exactly once; nullopt = all do.
  /// Answers are remembered, so asking again on another rank is cheap.
  std::optional<Gap> find_gap(ValueId value, TokenSetId rows, HeadRange query_heads, Direction direction);

 private:
  using ProfileId = std::uint32_t;
  struct Profile {
    std::vector<CountRun> runs;
    std::optional<TokenSetId> twice;
  };
  /// Query heads that the same terms hold for.
  struct Segment {
    int first_head;
    ProfileId profile;
  };
  const std::vector<Segment>& segments_of(ValueId value, HeadRange query_heads);
  ProfileId profile_of(std::vector<TokenSetId> terms);
  std::optional<Gap> find_gap(const Profile& profile, TokenSetId rows, Direction direction) const;
  /// Rows of one document against what they see together, one interval: the row nearest to `other` sees it.
  static std::optional<Gap> gap_between(const Profile& profile, TokenRange rows, TokenRange others);

  const DocumentMask& mask_;
  const TokenAlgebra& sets_;
  const Values& values_;
  TokenCounts& counts_;
  PairMemo questions_;  // (value, heads) -> index into segments_
  std::vector<std::vector<Segment>> segments_;
  std::map<std::vector<TokenSetId>, ProfileId> profile_ids_;  // sorted terms -> profile
  std::vector<Profile> profiles_;
  PairMemo answered_;  // (profile, rows and direction): no gap
};

}  // namespace hsap::proof
