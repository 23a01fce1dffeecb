// What the tests of practitioners' reports share: small layers on which every strategy is compiled, proved and executed against
// the oracle, and the words of a refusal. Each case of this folder is named after its report, with the right behaviour.
#pragma once

#include <catch2/catch.hpp>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "backend/reference.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"
#include "planner/ir/work.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap::test {

/// 8 query and 4 kv heads of width 16 under the causal mask.
inline AttentionShape small_layer(AttentionKind kind = AttentionKind::softmax) {
  return {.kind = kind, .query_heads = 8, .kv_heads = 4, .qk_dim = 16, .v_dim = 16, .dtype = DType::bf16, .mask = {}};
}

/// choices_for(), but of each strategy and degrees only the first option set.
inline std::vector<Choice> first_choices(const Problem& problem) {
  std::vector<Choice> firsts;
  for (const Choice& choice : choices_for(problem))
    if (firsts.empty() || firsts.back().strategy != choice.strategy || firsts.back().degrees != choice.degrees)
      firsts.push_back(choice);
  return firsts;
}

/// Tokens that each rank owns.
inline std::vector<Token> shares_of(const Schedule& schedule) {
  std::vector<Token> shares;
  for (const RankProgram& program : schedule.ranks) shares.push_back(schedule.tokens(program.tokens).size());
  return shares;
}

/// Bytes that all ranks together send in a phase.
inline double total_sent(const Schedule& schedule, Phase phase) {
  const std::vector<double> sent = bytes_sent_by_rank(schedule, phase);
  return std::accumulate(sent.begin(), sent.end(), 0.0);
}

/// The schedule of the choice. Checks that it passes verify() and that its ranks own the tokens of the batch, no more, no
/// fewer.
inline Schedule proved(const Choice& choice, const Problem& problem) {
  const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
  const std::vector<Token> shares = shares_of(schedule);
  CHECK(std::accumulate(shares.begin(), shares.end(), Token{0}) == problem.mask.tokens());
  CHECK_NOTHROW(verify(schedule, problem.mask));
  return schedule;
}

/// Every choice is proved, executed, and equals the oracle on these inputs: o, d_q, d_k and d_v.
inline void require_oracle(const Problem& problem, const LayerInputs& inputs, const std::vector<Choice>& choices) {
  constexpr double kTolerance = 1e-5;  // fp32 against double on a few thousand tokens at most
  REQUIRE(!choices.empty());
  const LayerResults reference = reference_attention(problem.shape, problem.mask, inputs);
  for (const Choice& choice : choices) {
    INFO(choice.describe() << " on " << problem.ranks << " ranks, " << problem.mask.tokens() << " tokens, "
                           << to_string(problem.shape.kind));
    const RelativeErrors errors = compare_all(execute_on_cpu(proved(choice, problem), inputs).results, reference);
    CAPTURE(errors.o, errors.d_q, errors.d_k, errors.d_v);
    CHECK(errors.largest() < kTolerance);
  }
}
inline void require_oracle(const Problem& problem, const std::vector<Choice>& choices) {
  require_oracle(problem, random_inputs(problem.shape, problem.mask.tokens(), 3), choices);
}

/// All choices of softmax and linear attention, on one node.
inline void require_oracle_of_all_strategies(const std::vector<Token>& offsets, int ranks) {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
    const Problem problem = problem_on(small_layer(kind), offsets, ranks, ranks);
    require_oracle(problem, choices_for(problem));
  }
}

/// The one line of the InvalidInput that `run` throws, or "accepted".
inline std::string refusal_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    CHECK_THAT(message, !Catch::Contains("\n"));
    return message;
  }
  return "accepted";
}

/// What a strategy says to these degrees on one document of 4096 tokens.
inline std::string refusal_of(const std::string& strategy, const AttentionShape& shape, int ranks, const Degrees& degrees) {
  const Problem problem = problem_on(shape, {0, 4096}, ranks, ranks);
  return refusal_of([&] { find_strategy(strategy).lower(problem, degrees); });
}

}  // namespace hsap::test
