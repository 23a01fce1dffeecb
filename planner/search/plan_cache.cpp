#include "planner/search/plan_cache.hpp"

#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Folds a value into a hash (the mixing step of 64-bit FNV-1a).
void mix(std::size_t& hash, std::size_t value) { hash = (hash ^ value) * 1099511628211ULL; }

}  // namespace

// Equal requests must have equal hashes; what is left out here (mask rule, options) only makes more of them meet.
std::size_t PlanCache::Hash::operator()(const PlanRequest* request) const {
  std::size_t hash = std::hash<std::string>()(request->strategy);
  for (const Token offset : request->problem.mask.offsets()) mix(hash, static_cast<std::size_t>(offset));
  for (const int number : {request->degrees.intra, request->degrees.inter, request->problem.ranks,
                           request->problem.shape.query_heads, request->problem.shape.kv_heads, request->options.stages})
    mix(hash, static_cast<std::size_t>(number));
  return hash;
}

PlanCache::PlanCache(std::size_t capacity) : capacity_(capacity) {
  if (capacity == 0) throw InvalidInput("plan cache: found room for 0 plans, expected at least 1");
}

std::shared_ptr<const Schedule> PlanCache::plan(const PlanRequest& request) {
  std::promise<std::shared_ptr<const Schedule>> promise;
  {
    std::unique_lock lock(mutex_);
    if (const auto known = entry_of_.find(&request); known != entry_of_.end()) {
      ++counts_.hits;
      entries_.splice(entries_.begin(), entries_, known->second);
      const Plan plan = known->second->plan;
      lock.unlock();
      return plan.get();
    }
    ++counts_.misses;
    entries_.push_front({request, promise.get_future().share()});
    entry_of_.emplace(&entries_.front().request, entries_.begin());
    if (entries_.size() > capacity_) {
      entry_of_.erase(&entries_.back().request);
      entries_.pop_back();
    }
  }
  try {
    auto schedule = std::make_shared<const Schedule>(
        find_strategy(request.strategy).lower(request.problem, request.degrees, request.options));
    promise.set_value(schedule);
    return schedule;
  } catch (...) {
    forget(request);
    promise.set_exception(std::current_exception());
    throw;
  }
}

void PlanCache::forget(const PlanRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto known = entry_of_.find(&request);
  if (known == entry_of_.end()) return;
  const auto entry = known->second;
  entry_of_.erase(known);
  entries_.erase(entry);
}

PlanCache::Counts PlanCache::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.kept = entries_.size();
  return counts;
}

}  // namespace hsap
