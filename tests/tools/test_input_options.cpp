#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"
#include "tools/input_options.hpp"
#include "tools/planning_inputs.hpp"

namespace hsap {

TEST_CASE("the gpus option: a count means the first ones, a list means those, nothing means all") {
  const ClusterTopology cluster = ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/dgx-h100-2.yaml");
  CHECK(parse_gpus("3", cluster) == std::vector<GpuId>{0, 1, 2});
  CHECK(parse_gpus("0,1,9", cluster) == std::vector<GpuId>{0, 1, 9});
  CHECK(parse_gpus("", cluster).size() == 16);
  for (const char* bad : {"0", "17", "0,16", "1,0", "2,2", "1,", ",1", "1;2", "-1", "4294967296", "x"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_gpus(bad, cluster), InvalidInput);
  }
}

TEST_CASE("the decay option: overrides what a linear layer has, and is refused on softmax layers and when it is no rate") {
  InputOptions options;
  options.tokens = 1024;
  options.model = "Qwen3.5-27B";
  options.layer = "linear";
  CHECK(read_inputs(options).layer.kind.attention.decay == 0);
  options.decay = 0.5;
  const AttentionShape shape = read_inputs(options).layer.kind.attention;
  CHECK(shape.decay == 0.5);
  CHECK(describe(shape) == "linear, 48 query heads, 48 kv heads, head width 128, decay 0.5, bf16");
  options.decay = -1;
  CHECK_THROWS_WITH(read_inputs(options), Catch::Contains("--decay: ") && Catch::Contains("decay is -1, expected 0 (none)"));
  options.decay = 1;
  options.layer = "full";
  CHECK_THROWS_WITH(read_inputs(options), Catch::Contains("full layer") && Catch::Contains("softmax attention has none"));
}

TEST_CASE("whole numbers: digits only, no leading zero, not beyond 64 bits") {
  CHECK(kWholeNumber("0").empty());
  CHECK(kWholeNumber("131072").empty());
  for (const char* bad : {"", "-1", "+1", "1.5", "1e3", "010", "0x10", "131,072", " 1", "9999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(kWholeNumber(bad).empty());
  }
}

}  // namespace hsap
