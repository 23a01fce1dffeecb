// Batches of equal documents on one GPU, as attention benchmarks run them.
#pragma once

#include <string>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/ir/schedule.hpp"

namespace hsap::test {

struct AttentionRow {
  int documents = 1;
  Token length = 0;
  int query_heads = 32;
  int kv_heads = 8;
  int head_dim = 128;
};

/// One rank with Attend as forward op 0 and AttendBackward as backward op 0, causal, bf16.
Schedule attention_of(const AttentionRow& row);

/// One GPU, with the datasheet numbers of an H100 SXM or A100 SXM 80GB under any name.
ClusterTopology h100(const std::string& name = "H100 SXM");
ClusterTopology a100(const std::string& name = "A100 SXM 80GB");

}  // namespace hsap::test
