// What practitioners reported of other systems, with the right behaviour asserted of ours. Each case is named after its report.
#include <catch2/catch.hpp>

#include <algorithm>

#include "backend/reference.hpp"
#include "planner/inputs/cluster_topology.hpp"
#include "planner/inputs/document_lengths.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/verify.hpp"
#include "planner/ir/work.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

AttentionShape shape_of(AttentionKind kind) {
  return {.kind = kind, .query_heads = 8, .kv_heads = 4, .qk_dim = 16, .v_dim = 16, .dtype = DType::bf16, .mask = {}};
}

void require_oracle_of_all_strategies(const std::vector<Token>& offsets, int ranks) {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
    const Problem problem = test::problem_on(shape_of(kind), offsets, ranks, ranks);
    const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), 3);
    const LayerResults reference = reference_attention(problem.shape, problem.mask, inputs);
    for (const test::Choice& choice : test::choices_for(problem)) {
      INFO(choice.describe());
      const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
      Token owned = 0;
      for (const RankProgram& program : schedule.ranks) owned += schedule.tokens(program.tokens).size();
      CHECK(owned == problem.mask.tokens());
      verify(schedule, problem.mask);
      const Execution first = execute_on_cpu(schedule, inputs);
      CHECK(compare_all(first.results, reference).largest() < 1e-5);
      const Execution again = execute_on_cpu(schedule, inputs);
      CHECK(first.results.o.values == again.results.o.values);
      CHECK(first.results.d_k.values == again.results.d_k.values);
    }
  }
}

std::string refusal(const std::string& strategy, const AttentionShape& shape, int ranks, Degrees degrees) {
  const Problem problem = test::problem_on(shape, {0, 4096}, ranks, ranks);
  try {
    find_strategy(strategy).lower(problem, degrees);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("A1 (TransformerEngine 1930): two documents of 4 and 3 tokens on 2 ranks lose no token and need no padding") {
  require_oracle_of_all_strategies({0, 4, 7}, 2);
}

TEST_CASE(
    "A2 (TransformerEngine 3331): 698 tokens in a pack padded to 704 on 4 ranks: padding is reported, not attended; repeats "
    "are bit-identical") {
  const LengthSource source =
      parse_document_lengths(R"({"cu_seqlens": [0, 300, 698], "cu_seqlens_padded": [0, 300, 704]})", "padded.json");
  CHECK(source.lengths == std::vector<Token>{300, 398});
  CHECK(std::any_of(source.remarks.begin(), source.remarks.end(),
                    [](const std::string& remark) { return remark.find("6 padding tokens (0.85 %)") != std::string::npos; }));
  require_oracle_of_all_strategies(test::offsets_of(source.lengths), 4);
}

TEST_CASE("A4 (Megatron-LM 3282): repeated offsets are empty documents, ignored and reported; a falling offset is the error") {
  const LengthSource source = parse_document_lengths("[0, 16, 40, 40, 40]", "cu_seqlens.json");
  CHECK(source.lengths == std::vector<Token>{16, 24});
  CHECK(std::any_of(source.remarks.begin(), source.remarks.end(),
                    [](const std::string& remark) { return remark.find("2 empty documents") != std::string::npos; }));
  CHECK_THROWS_WITH(parse_document_lengths(R"({"cu_seqlens": [0, 16, 12, 40]})", "cu_seqlens.json"), Contains("12"));
}

TEST_CASE("A9 (SkyRL 1407): a document of 2 tokens on 8 ranks leaves most of them without real tokens and still works") {
  require_oracle_of_all_strategies({0, 2}, 8);
}

TEST_CASE("B1 (LongPO 5): 28 heads on ulysses 8 are refused with the degrees that work") {
  const AttentionShape qwen = model_preset("Qwen2.5-7B").kinds.front().attention;
  const std::string message = refusal("ulysses", qwen, 8, {8, 1});
  CHECK_THAT(message, Contains("28 heads") && Contains("1, 2, 4") && Contains("28 with KV replication"));
  CHECK_THAT(message, Contains("ulysses 4 x ring 2") && Contains("ulysses 4 x dp 2"));
}

TEST_CASE("B5 (ms-swift 5624): 32 heads on 6 GPUs: ulysses 2 x ring 3, also on GPUs 0,1,2,3,6,7") {
  const AttentionShape llama = model_preset("Llama-3.1-8B").kinds.front().attention;
  CHECK_THAT(refusal("ulysses", llama, 6, {6, 1}), Contains("ulysses 2 x ring 3"));
  CHECK(refusal("usp", llama, 6, {2, 3}) == "accepted");
  const ClusterTopology node = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/rtx4090-pcie-8.yaml");
  const ClusterTopology chosen = node.take({0, 1, 2, 3, 6, 7});
  CHECK(chosen.gpus() == 6);
  CHECK(chosen.island_of(3) != chosen.island_of(4));  // GPUs 3 and 6 are on different sockets
  CHECK(chosen.route(3, 4).latency_seconds > chosen.route(2, 3).latency_seconds);
}

TEST_CASE(
    "C9 (prime-rl 3003): documents of 37, 51 and 40 tokens on 2 ranks: the state of the second crosses, and nothing else") {
  const Problem problem = test::problem_on(shape_of(AttentionKind::linear), {0, 37, 88, 128}, 2, 2);
  const Schedule schedule = find_strategy("lasp").lower(problem, {1, 2});
  verify(schedule, problem.mask);
  std::vector<TokenSet> summed;
  for (const Op& op : schedule.ranks[0].forward)
    if (const auto* exchange = std::get_if<Exchange>(&op.body))
      for (const Message& message : exchange->sends)
        for (const Slice& part : message.parts) summed.push_back(schedule.tokens(part.tokens));
  CHECK(summed == std::vector<TokenSet>{TokenSet{{37, 64}}});
  require_oracle_of_all_strategies({0, 37, 88, 128}, 2);
}

TEST_CASE("D2 (Megatron-LM 7513): one valid token on one rank: gradients are those of one device, not divided by the degree") {
  const Problem problem = test::problem_on(shape_of(AttentionKind::softmax), {0, 20, 64}, 4, 4);
  LayerInputs inputs = random_inputs(problem.shape, 64, 5);
  const auto row = static_cast<std::size_t>(inputs.d_o.heads) * static_cast<std::size_t>(inputs.d_o.width);
  for (std::size_t i = 0; i < inputs.d_o.values.size(); ++i)
    if (i / row != 63) inputs.d_o.values[i] = 0;
  const LayerResults reference = reference_attention(problem.shape, problem.mask, inputs);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe());
    const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
    CHECK(compare_all(execute_on_cpu(schedule, inputs).results, reference).largest() < 1e-5);
  }
}

}  // namespace
}  // namespace hsap
