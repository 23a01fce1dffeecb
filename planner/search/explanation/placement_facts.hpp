// Who holds and who computes what: where the tokens of each document lie, and how tokens and attention are spread over ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/ir/schedule.hpp"

namespace hsap {

/// Where one document lies.
struct DocumentPlacement {
  std::size_t document = 0;  ///< index in the batch
  Token tokens = 0;
  std::vector<RankId> ranks;      ///< that own tokens of it, ascending
  std::size_t pieces = 0;         ///< ranges of tokens that one rank owns and that do not continue there
  Token largest_share = 0;        ///< tokens of the rank that owns most of it
  RankId largest_share_rank = 0;  ///< the first such rank
};

/// A number that every rank has.
struct Spread {
  double least = 0, mean = 0, most = 0;
  RankId least_rank = 0, most_rank = 0;  ///< the first such ranks
  /// most / mean; 1 when all is 0.
  double imbalance() const { return mean > 0 ? most / mean : 1; }
};
/// @pre values is not empty
Spread spread_of(const std::vector<double>& values);

struct PlacementFacts {
  std::vector<DocumentPlacement> documents;  ///< longest first, then in their order
  std::size_t documents_on_one_rank = 0;
  std::vector<double> tokens_owned;  ///< by rank
  /// By rank: (query, key) pairs that its Attend ops compute, per query head of the layer. A rank with half of the heads counts
  /// half; softmax: the ranks together compute each pair once. Linear attention works out the others by states.
  std::vector<double> pairs_computed;
};

/// `documents` may differ from the mask of the schedule, when that is made for one document of all tokens.
/// O(ranges + documents + intervals of the Attend ops).
PlacementFacts placement_facts(const Schedule& schedule, const DocumentMask& documents);

}  // namespace hsap
