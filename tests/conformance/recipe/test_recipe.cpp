// The README's recipe: a strategy is one file and one line of registration. This executable is built from the recipe's file and
// the registry with its line added (CMakeLists.txt); the properties of all strategies then hold of the new one, too.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/conformance/oracle.hpp"

namespace hsap {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(HSAP_SOURCE_DIR "/") + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("a strategy that was added as the README says is listed, equals the oracle and sends nothing") {
  const Strategy& added = find_strategy("whole-documents");
  CHECK(all_strategies().size() > 20);
  CHECK_THROWS_WITH(find_strategy("whole"), Catch::Matchers::Contains("whole-documents"));
  const auto kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  const int ranks = GENERATE(1, 3, 8);
  const AttentionShape shape{
      .kind = kind, .query_heads = 8, .kv_heads = 2, .qk_dim = 8, .v_dim = 4, .dtype = DType::bf16, .mask = {}};
  for (const test::NamedPacking& packing : test::hard_packings()) {
    INFO(packing.name);
    const Problem problem = test::problem_on(shape, packing.offsets, ranks, ranks);
    test::require_equal_to_oracle(problem, {{&added, {1, ranks}, {}}});
    const Schedule schedule = added.lower(problem, {1, ranks});
    for (const RankProgram& program : schedule.ranks)
      CHECK(std::none_of(program.forward.begin(), program.forward.end(),
                         [](const Op& op) { return std::holds_alternative<Exchange>(op.body); }));
  }
}

TEST_CASE("the README shows the very file and line of the recipe") {
  const std::string readme = text_of("README.md");
  CHECK(readme.find("```cpp\n" + text_of("tests/conformance/recipe/whole_documents.cpp") + "```") != std::string::npos);
  CHECK(readme.find("  add(whole_documents) \\\n") != std::string::npos);
  CHECK(text_of("planner/strategies/registry.cpp").find("  add(hsap) \\\n") != std::string::npos);
}

}  // namespace
}  // namespace hsap
