// Questions as users put them, drawn at random: a model, some GPUs of a cluster, a length distribution, tokens, an objective.
#pragma once

#include <cstdint>
#include <string>

#include "planner/search/compare.hpp"

namespace hsap::test {

struct RandomCase {
  std::string description;  ///< all that is needed to ask again with hsap-plan
  ClusterTopology cluster;
  CompareRequest request;  ///< of all strategies that serve the layer
};

/// Same seed, same case on every platform. Built-in models, clusters and distributions; 1,024 to 262,144 tokens, 2 to 24 GPUs.
RandomCase random_case(std::uint64_t seed);

}  // namespace hsap::test
