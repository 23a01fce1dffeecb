#include "backend/cpu/worker_threads.hpp"

#include <condition_variable>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

/// One thread, which sleeps until it is given a task.
class WorkerThreads::Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    give(nullptr);
    thread_.join();
  }
  /// An empty task ends the thread. @pre the one before is done
  void give(std::function<void()> task) {
    task_ = std::move(task);
    given_.release();
  }

 private:
  void work() {
    while (true) {
      given_.acquire();
      const std::function<void()> task = std::move(task_);
      if (!task) return;
      task();
    }
  }

  std::function<void()> task_;
  std::binary_semaphore given_{0};
  std::thread thread_;
};

WorkerThreads& WorkerThreads::shared() {
  static WorkerThreads threads;
  return threads;
}

WorkerThreads::WorkerThreads() = default;
WorkerThreads::~WorkerThreads() = default;

void WorkerThreads::start_idle(std::size_t count) {
  while (idle_.size() < count) {
    try {
      workers_.push_back(std::make_unique<Worker>());
    } catch (const std::system_error& error) {
      throw BackendFailure("starting thread " + std::to_string(workers_.size()), error.what());
    }
    idle_.push_back(workers_.back().get());
  }
}

void WorkerThreads::run(std::vector<WorkerTask> tasks) {
  std::unique_lock lock(mutex_);
  start_idle(tasks.size());
  const std::vector<Worker*> ours(idle_.end() - static_cast<std::ptrdiff_t>(tasks.size()), idle_.end());
  idle_.resize(idle_.size() - tasks.size());
  lock.unlock();

  std::size_t running = tasks.size();
  std::condition_variable all_done;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < ours.size(); ++i)
    ours[i]->give([this, &running, &all_done, start, worker = ours[i], task = std::move(tasks[i])] {
      task(start);
      const std::lock_guard ending(mutex_);
      idle_.push_back(worker);
      if (--running == 0) all_done.notify_one();
    });
  lock.lock();
  all_done.wait(lock, [&] { return running == 0; });
}

std::size_t WorkerThreads::threads() const {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

}  // namespace hsap
