// Threads that are kept from run to run: starting one costs more than what it does in a small run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace hsap {

/// Is given the time at which all tasks of the run could begin.
using WorkerTask = std::function<void(std::chrono::steady_clock::time_point start)>;

/// Any number of threads may run() at once.
class WorkerThreads {
 public:
  /// Those of the process.
  static WorkerThreads& shared();

  WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  /// @pre nobody runs
  ~WorkerThreads();

  /// Runs each task, all at the same time, on threads of their own, and returns when all are done. Tasks must not throw. Throws
  /// BackendFailure, before any task runs, when the system refuses a thread.
  void run(std::vector<WorkerTask> tasks);
  /// How many threads there are now: as many as have been needed at once.
  std::size_t threads() const;

 private:
  class Worker;
  /// Makes idle workers until there are `count`. @pre the caller holds the lock
  void start_idle(std::size_t count);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
};

}  // namespace hsap
