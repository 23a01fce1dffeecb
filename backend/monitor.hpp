// The one place where the threads of a run wait for each other. Because all waiting is here, a run that cannot go on is noticed
// at once, not after a time-out: when every thread waits, none can ever be woken. The first failure of any thread stops all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <string>

namespace hsap {

/// Thrown in the threads that did not fail when another one did; never leaves the executor.
struct Stopped {};

/// What a thread waits for. Both functions are called under the monitor's lock.
struct Wait {
  std::function<bool()> ready;
  std::function<std::string()> describe;  ///< "rank 1, forward op 3 (exchange) waits for message 0 from rank 2"
  bool for_message = false;               ///< such waits are named first when all threads wait: the others follow from them
};

class Monitor {
 public:
  /// The calling thread takes part until it calls leave().
  Monitor() = default;

  /// One more thread takes part until it calls leave(): to be called before it starts.
  void enter();
  /// Runs `change` of shared state under the lock, then wakes those whose wait it ended. Throws Stopped after a failure.
  void update(const std::function<void()>& change);
  /// Blocks until `wait` is ready, then runs `then` under the lock. Throws Stopped after a failure (also one noticed here:
  /// everybody waits).
  void wait(
      const Wait& wait, const std::function<void()>& then = [] {});
  /// The calling thread is done and will not update() any more.
  void leave();
  /// Remembers the first failure and wakes everybody.
  void fail(std::exception_ptr failure);
  /// nullptr when nobody failed. Only after all threads left.
  std::exception_ptr failure() const { return failure_; }

 private:
  struct Waiting {
    const Wait* wait;
    bool woken = false;
    std::condition_variable wake{};
  };
  void wake_ready();
  void stop(std::exception_ptr failure);
  void stop_if_all_wait();

  std::mutex mutex_;
  std::size_t running_ = 1;  // threads that take part and do not wait, or are being woken
  std::list<Waiting> waiting_;
  std::exception_ptr failure_;
};

}  // namespace hsap
