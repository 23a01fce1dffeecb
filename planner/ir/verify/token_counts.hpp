// How often each token occurs in several token sets, without sorting their ranges anew each time: all boundaries of the
// schedule are numbered once, and counting is one pass of increments over those numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "planner/ir/document_mask.hpp"
#include "planner/ir/verify/token_algebra.hpp"

namespace hsap::proof {

/// Tokens that occur equally often.
struct CountRun {
  Token begin = 0;
  Token end = 0;
  std::int64_t count = 0;
};

/// First token of [begin, end) that does not occur exactly once, and how often it does. `runs` ascend, neighbours differ, and
/// tokens that never occur are left out. O(log runs).
std::optional<std::pair<Token, std::int64_t>> first_not_once(const std::vector<CountRun>& runs, Token begin, Token end);

class TokenCounts {
 public:
  /// `sets` must outlive it. Sets that are derived later are served, too: they have no new boundaries.
  explicit TokenCounts(const TokenAlgebra& sets);

  /// Runs over all tokens of these sets; a set listed twice counts twice. O(ranges of the sets + boundaries between first and
  /// last).
  std::vector<CountRun> count(const std::vector<TokenSetId>& sets);

 private:
  /// Numbers of a range's two boundaries.
  struct Span {
    std::uint32_t begin;
    std::uint32_t end;
  };
  const std::vector<Span>& spans_of(TokenSetId id);

  const TokenAlgebra& sets_;
  std::vector<Token> boundaries_;         // ascending
  std::vector<std::vector<Span>> spans_;  // [token set], filled when first asked for
  std::vector<std::int64_t> change_;      // [boundary]: by how much the count changes there; all 0 between calls
};

}  // namespace hsap::proof
