// verify() refuses every mutation of every strategy's schedule; the few changes that it accepts (marked may_be_harmless) are
// shown to be harmless by executing them in random orders.
#include <catch2/catch.hpp>

#include "tests/conformance/mutations.hpp"
#include "tests/conformance/problems.hpp"
#include "tests/conformance/random_execution.hpp"

namespace hsap::test {
namespace {

TEST_CASE("mutations of every strategy: verify refuses them all, and what it accepts does no harm") {
  const auto [kind, rule] = GENERATE(table<AttentionKind, std::string>({{AttentionKind::softmax, "causal"},
                                                                        {AttentionKind::linear, "causal"},
                                                                        {AttentionKind::softmax, "full"},
                                                                        {AttentionKind::softmax, "sinks:1,window:3"}}));
  const AttentionShape shape{.kind = kind,
                             .query_heads = 4,
                             .kv_heads = 2,
                             .qk_dim = 4,
                             .v_dim = 4,
                             .dtype = DType::bf16,
                             .mask = parse_mask_rule(rule)};
  // Linear: one document goes through whole ranks, so that states are passed on and summed up.
  const std::vector<Token> lengths =
      kind == AttentionKind::softmax ? std::vector<Token>{7, 1, 6} : std::vector<Token>{2, 11, 1};
  const Problem problem = problem_on(shape, offsets_of(lengths), 4, 2);
  std::vector<Choice> choices = choices_for(problem);
  if (kind == AttentionKind::softmax)  // queries move where they do not by themselves on so few ranks
    for (const Moving moving : {Moving::q, Moving::tiles})
      for (const KvForBackward kv : {KvForBackward::kept, KvForBackward::again})
        choices.push_back({&find_strategy("hsap"), {1, 4}, {.placement = "zigzag", .stages = 2, .kv = kv, .moving = moving}});
  std::size_t refused = 0, harmless = 0, skipped = 0;
  for (const Choice& choice : choices) {
    if (choice.options.stages == 4) continue;  // as many ops again, no new ones
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    const auto counts = for_each_mutation(schedule, [&](const Mutation& mutation) {
      if (!is_accepted(mutation.schedule)) {
        ++refused;
        return;
      }
      INFO(choice.describe() << ": " << mutation.description);
      CHECK(mutation.may_be_harmless);
      ++harmless;
      for (unsigned seed = 0; seed < 3; ++seed) CHECK(find_fault(mutation.schedule, seed) == std::nullopt);
    });
    for (const auto& [name, count] : counts) skipped += count.skipped;
  }
  WARN(to_string(kind) << ", " << rule << ": " << refused << " mutations refused, " << harmless << " accepted and harmless, "
                       << skipped << " changes that change nothing left out");
  CHECK(refused > 1000);
  CHECK(harmless * 10 < refused);
}

}  // namespace
}  // namespace hsap::test
