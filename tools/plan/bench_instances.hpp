// The inputs of hsap-plan bench-planner: a folder with index.json, a list of {"id": NAME}, and for each a file NAME.json whose
// "doc_lens" are the document lengths of one packed batch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap {

struct BenchInstance {
  std::string name;
  DocumentMask mask;
};

/// Those whose name contains `filter`, in the order of the index. Throws InvalidInput naming the file and what was expected, or
/// when no name contains the filter.
std::vector<BenchInstance> read_bench_instances(const std::filesystem::path& folder, const std::string& filter);

/// Whether planners are compared on this instance at this rank count: 2,048 to 131,072 tokens per rank. On 64K, 256K, 1M and 4M
/// tokens and 8, 32, 128 and 512 ranks these are exactly the pairs of planbench/grid.py.
bool is_benched(const BenchInstance& instance, int ranks);

}  // namespace hsap
