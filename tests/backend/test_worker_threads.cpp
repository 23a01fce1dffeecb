#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

#include "backend/cpu/worker_threads.hpp"

using namespace hsap;

namespace {

/// Tasks that end only when all of them have begun: they do if all run at the same time.
std::vector<WorkerTask> tasks_that_meet(std::latch& all_begun, int count, std::atomic<int>& done) {
  return std::vector<WorkerTask>(static_cast<std::size_t>(count), [&](std::chrono::steady_clock::time_point) {
    all_begun.arrive_and_wait();
    ++done;
  });
}

}  // namespace

TEST_CASE("worker threads: all tasks run at the same time, and are done when run returns") {
  WorkerThreads workers;
  for (const int count : {1, 40, 7, 0, 40}) {
    CAPTURE(count);
    std::latch all_begun(count);
    std::atomic<int> done = 0;
    workers.run(tasks_that_meet(all_begun, count, done));
    CHECK(done == count);
  }
  CHECK(workers.threads() == 40);
}

TEST_CASE("worker threads: two runs at once do not wait for each other's threads") {
  WorkerThreads workers;
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::latch all_begun(8);
    std::atomic<int> done = 0;
    const auto run_half = [&] { workers.run(tasks_that_meet(all_begun, 4, done)); };
    std::thread other(run_half);
    run_half();
    other.join();
    CHECK(done == 8);
  }
  CHECK(workers.threads() == 8);
}

TEST_CASE("worker threads: tasks are given the time at which they could begin") {
  WorkerThreads workers;
  const auto before = std::chrono::steady_clock::now();
  std::atomic<int> in_time = 0;
  workers.run(std::vector<WorkerTask>(3, [&](std::chrono::steady_clock::time_point start) {
    if (before <= start && start <= std::chrono::steady_clock::now()) ++in_time;
  }));
  CHECK(in_time == 3);
}
