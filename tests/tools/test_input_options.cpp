#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "tools/command_line.hpp"
#include "tools/input_options.hpp"

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

TEST_CASE("whole numbers: digits only, no leading zero, not beyond 64 bits") {
  CHECK(kWholeNumber("0").empty());
  CHECK(kWholeNumber("131072").empty());
  for (const char* bad : {"", "-1", "+1", "1.5", "1e3", "010", "0x10", "131,072", " 1", "9999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(kWholeNumber(bad).empty());
  }
}

}  // namespace hsap
