// Real topology files of other tools, none of which is a cluster description: each must be refused in one helpful line.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

/// The folder of topology files. Ends the process as skipped (CTest: SKIP_RETURN_CODE 77) when this machine does not have it.
std::filesystem::path corpus() {
  const std::filesystem::path folder = std::filesystem::path(HSAP_SHARED_DIR) / "corpus" / "topologies";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "skipped: " << folder << " is not on this machine\n";
    std::exit(77);
  }
  return folder;
}

std::string refusal(const std::filesystem::path& file) {
  try {
    ClusterTopology::read(file);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("cluster corpus: every file of another tool is refused in one line that names it and says what to do") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string message = refusal(entry.path());
    CAPTURE(entry.path(), message);
    CHECK_THAT(message, Catch::StartsWith(entry.path().string()));
    CHECK_THAT(message, Catch::Contains("hsap reads cluster YAML: copy one of topologies/*.yaml"));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.size() < entry.path().string().size() + 300);
  }
  CHECK(files > 80);
}

TEST_CASE("cluster corpus: the message says which tool a file belongs to") {
  const std::pair<const char*, const char*> folders[] = {
      {"nccl-xml", "NCCL topology XML"}, {"rccl-xml", "RCCL topology XML"},
      {"nvidia-smi", "the output of "},  {"simulators/simgrid", "a SimGrid platform XML"},
      {"simulators/htsim", "an htsim "}, {"simulators/astra-sim", "an ASTRA-sim "}};
  for (const auto& [folder, tool] : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(corpus() / folder)) {
      // The one file of RCCL among those of NCCL.
      const bool is_rccl = entry.path().filename() == "TRUNCATED-hygon-dcu-rccl-v2.xml";
      CHECK_THAT(refusal(entry.path()), Catch::Contains(std::string("this is ")) && Catch::Contains(is_rccl ? "RCCL" : tool));
    }
  }
}

TEST_CASE("cluster corpus: an ASTRA-sim file without numbers is refused with key and line") {
  const std::string message = refusal(corpus() / "simulators/astra-sim/inputs__network__dgx_v100_8gpu.yml");
  CHECK_THAT(message,
             Catch::Contains("dgx_v100_8gpu.yml:11: ") && Catch::Contains("\"bandwidth\" has no number: found \"tbd\""));
}

}  // namespace
}  // namespace hsap
