#include "planner/packing/packing_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace hsap {

double packing_bound_seconds(const StepModel& model, const std::vector<Token>& lengths) {
  if (lengths.empty()) return 0;
  std::vector<double> costs;
  costs.reserve(lengths.size());
  for (const Token length : lengths) costs.push_back(model.costs().document_seconds(length));
  std::sort(costs.begin(), costs.end(), std::greater<>());
  std::vector<double> sums = {0};  // [i] of the first i
  for (const double cost : costs) sums.push_back(sums.back() + cost);

  const double ranks = model.mesh().ranks;
  const auto replicas = static_cast<std::size_t>(model.mesh().replicas);
  const double fixed = model.costs().fixed_seconds;
  const Token tokens = std::accumulate(lengths.begin(), lengths.end(), Token{0});
  const auto micro_batches = static_cast<double>((tokens + model.capacity() - 1) / model.capacity());
  double bound = (sums.back() / ranks + fixed * micro_batches) / static_cast<double>(replicas);
  for (std::size_t k = 0; k * replicas < costs.size(); ++k) {
    const std::size_t last = k * replicas + 1;
    bound = std::max(bound, fixed + (sums[last] - sums[last - k - 1]) / ranks);
  }
  return bound;
}

}  // namespace hsap
