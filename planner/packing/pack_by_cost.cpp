#include "planner/packing/pack_by_cost.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "planner/packing/balance.hpp"

namespace hsap {

namespace {

/// The documents of one replica.
Replica micro_batches_of(const std::vector<std::size_t>& documents, const std::vector<BinItem>& costs, Token most_tokens) {
  if (documents.empty()) return {};
  std::vector<BinItem> items;
  Token tokens = 0;
  for (const std::size_t document : documents) {
    items.push_back(costs[document]);
    tokens += items.back().tokens;
    most_tokens = std::max(most_tokens, items.back().tokens);
  }
  std::optional<Bins> bins;
  for (auto count = static_cast<std::size_t>((tokens + most_tokens - 1) / most_tokens); !bins; ++count)
    bins = balance(items, count, most_tokens);
  Replica replica;
  for (const std::vector<std::size_t>& bin : *bins) {
    MicroBatch micro_batch;
    for (const std::size_t item : bin) micro_batch.push_back(documents[item]);
    if (!micro_batch.empty()) replica.push_back(std::move(micro_batch));
  }
  std::sort(replica.begin(), replica.end());
  return replica;
}

}  // namespace

StepPacking pack_by_cost(const StepModel& model, const std::vector<Token>& lengths, Token most_tokens) {
  std::vector<BinItem> costs;
  costs.reserve(lengths.size());
  for (const Token length : lengths) {
    assert(length <= model.capacity());
    costs.push_back({model.costs().document_seconds(length), length});
  }
  constexpr Token kUncapped = std::numeric_limits<Token>::max();
  const auto replicas = static_cast<std::size_t>(model.mesh().replicas);
  const std::optional<Bins> of_replica = balance(costs, replicas, kUncapped);
  StepPacking packing;
  for (const std::vector<std::size_t>& documents : *of_replica)
    packing.push_back(micro_batches_of(documents, costs, most_tokens));
  return packing;
}

}  // namespace hsap
