// Compiled plans, kept for when the same batch layout comes again: planning runs before every training step, and micro-batches
// of equal lengths (full documents, evaluation sets, several epochs) need no second plan. What a trainer links against:
// compiling is a pure function of the request, so any number of threads may ask at once; each compiles on its own core.
#pragma once

#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "planner/strategies/strategy.hpp"

namespace hsap {

/// All that a plan depends on: lengths and mask, model, cluster (nodes of the ranks), strategy and options.
struct PlanRequest {
  std::string strategy;
  Problem problem;
  Degrees degrees;
  StrategyOptions options;
  bool operator==(const PlanRequest&) const = default;
};

/// Least-recently-used cache of schedules. Thread-safe.
class PlanCache {
 public:
  /// Keeps the plans of so many requests. Throws InvalidInput when that is 0.
  explicit PlanCache(std::size_t capacity);

  /// The schedule, compiled in the calling thread unless it is kept. Threads that ask for a plan which another one is compiling
  /// wait for that; requests for other plans do not. Not verified: verify() is the caller's choice. What lower() throws is
  /// thrown to all who wait, and not kept.
  std::shared_ptr<const Schedule> plan(const PlanRequest& request);

  struct Counts {
    std::size_t hits = 0;
    std::size_t misses = 0;
    std::size_t kept = 0;
  };
  Counts counts() const;

 private:
  using Plan = std::shared_future<std::shared_ptr<const Schedule>>;
  struct Entry {
    PlanRequest request;
    Plan plan;
  };
  struct Hash {
    std::size_t operator()(const PlanRequest* request) const;
  };
  struct Equal {
    bool operator()(const PlanRequest* a, const PlanRequest* b) const { return *a == *b; }
  };

  void forget(const PlanRequest& request);

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;                                                                  // latest use first
  std::unordered_map<const PlanRequest*, std::list<Entry>::iterator, Hash, Equal> entry_of_;  // keys: the entries' requests
  Counts counts_;
};

}  // namespace hsap
