#include "planner/inputs/cluster/other_formats.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hsap {
namespace {

/// A file looks like `what` when it contains all of `marks`.
struct Signature {
  std::vector<std::string_view> marks;
  const char* what;
};

/// The first that fits wins: the special before the general. Marks come from real files of each tool.
const std::vector<Signature>& signatures() {
  static const std::vector<Signature> kSignatures{
      {{"git-lfs.github.com/spec"}, "a Git LFS pointer, not the file itself (fetch it with \"git lfs pull\")"},
      {{"<platform"}, "a SimGrid platform XML"},
      {{"<graphs"}, "an NCCL graph dump XML"},
      {{"<system", "<xgmi"}, "an RCCL topology XML"},
      {{"<system version=\"2\""}, "an RCCL topology XML"},
      {{"<system"}, "an NCCL topology XML"},
      {{"<pci", "busid="}, "a piece of an NCCL topology XML"},
      {{"ROCm System Management Interface"}, "the output of rocm-smi --showtopo"},
      {{"(UUID: GPU-"}, "the output of nvidia-smi -L"},
      {{"GPU0", "CPU Affinity"}, "the output of nvidia-smi topo -m"},
      {{"nvbandwidth Version"}, "the output of nvbandwidth"},
      {{"cpu_to_gpu0_by_"}, "the output of SuperBench gpu_copy"},
      {{"switchguid="}, "the output of ibnetdiscover"},
      {{"VM_hostname"}, "a list of InfiniBand ports (ibstat)"},
      {{"Nodes ", "Tiers "}, "an htsim topology file"},
      {{"Nodes ", "Connections "}, "an htsim connection matrix"},
      {{"npus_count"}, "an ASTRA-sim network file"},
      {{"logical-dims"}, "an ASTRA-sim network file for ns-3"},
      {{"scheduling-policy"}, "an ASTRA-sim system file"},
      {{"model_parallel_NPU_group"}, "a SimAI workload"},
      {{"USE_DYNAMIC_PFC_THRESHOLD"}, "a SimAI ns-3 configuration"},
      {{"Gbps", "ms 0"}, "a SimAI topology file"},
      {{"allreduce,", "busbw"}, "a SimAI bus bandwidth table"},
      {{"src_host", "endpoints"}, "a Mooncake cluster topology"},
      {{"tp_size", "ep_size"}, "an NCCL m2n training layout"},
  };
  return kSignatures;
}

}  // namespace

std::string recognise_other_format(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "a binary file";
  for (const Signature& signature : signatures()) {
    const auto found = [&](std::string_view mark) { return text.find(mark) != std::string::npos; };
    if (std::all_of(signature.marks.begin(), signature.marks.end(), found)) return signature.what;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "an empty file";
  if (text[first] == '<') return "an XML file";
  if (text[first] == '{' || text[first] == '[') return "a JSON file";
  return "";
}

}  // namespace hsap
