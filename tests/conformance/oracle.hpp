// The property that every schedule must have: it passes verify(), holds every token once, and its results on CPU ranks equal
// the double-precision oracle, forward and backward.
#pragma once

#include <catch2/catch.hpp>

#include "backend/reference.hpp"
#include "planner/ir/verify.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap::test {

inline constexpr double kTolerance = 1e-5;  // fp32 against double on a few hundred tokens

inline void require_equal_to_oracle(const Problem& problem, const std::vector<Choice>& choices) {
  const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), 7);
  const LayerResults reference = reference_attention(problem.shape, problem.mask, inputs);
  for (const Choice& choice : choices) {
    INFO(choice.describe() << " on " << problem.ranks << " ranks, " << problem.mask.documents() << " documents, "
                           << problem.mask.tokens() << " tokens");
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    REQUIRE_NOTHROW(verify(schedule, problem.mask));
    Token owned = 0;
    for (const RankProgram& program : schedule.ranks) owned += schedule.tokens(program.tokens).size();
    REQUIRE(owned == problem.mask.tokens());
    const RelativeErrors errors = compare_all(execute_on_cpu(schedule, inputs).results, reference);
    CAPTURE(errors.o, errors.d_q, errors.d_k, errors.d_v);
    REQUIRE(errors.largest() < kTolerance);
  }
}

inline void require_equal_to_oracle(const AttentionShape& shape, const std::vector<Token>& offsets, int ranks, int per_node) {
  const Problem problem = problem_on(shape, offsets, ranks, per_node);
  require_equal_to_oracle(problem, choices_for(problem));
}

/// Query and kv heads that the ranks can share: 3 ranks need a multiple of 3.
inline std::pair<int, int> heads_for(int ranks) {
  if (ranks == 16) return {16, 4};
  return ranks % 3 == 0 ? std::pair{6, 3} : std::pair{8, 2};
}

}  // namespace hsap::test
