#include "backend/monitor.hpp"

#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

void Monitor::enter() {
  const std::lock_guard lock(mutex_);
  ++running_;
}

void Monitor::update(const std::function<void()>& change) {
  const std::lock_guard lock(mutex_);
  if (failure_) throw Stopped{};
  change();
  wake_ready();
}

void Monitor::wait(const Wait& wait, const std::function<void()>& then) {
  std::unique_lock lock(mutex_);
  if (!failure_ && !wait.ready()) {
    const auto self = waiting_.emplace(waiting_.end(), &wait);
    --running_;
    stop_if_all_wait();
    self->wake.wait(lock, [&] { return self->woken; });
    waiting_.erase(self);
  }
  if (failure_) throw Stopped{};
  then();
  wake_ready();
}

void Monitor::leave() {
  const std::lock_guard lock(mutex_);
  --running_;
  stop_if_all_wait();
}

void Monitor::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  stop(std::move(failure));
}

void Monitor::wake_ready() {
  for (Waiting& waiting : waiting_) {
    if (waiting.woken || !waiting.wait->ready()) continue;
    waiting.woken = true;
    ++running_;
    waiting.wake.notify_one();
  }
}

void Monitor::stop(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
  for (Waiting& waiting : waiting_) {
    if (!waiting.woken) ++running_;
    waiting.woken = true;
    waiting.wake.notify_one();
  }
}

void Monitor::stop_if_all_wait() {
  if (failure_ || running_ > 0 || waiting_.empty()) return;
  constexpr std::size_t kNamed = 3;
  std::string waits;
  std::size_t named = 0;
  for (const bool for_message : {true, false})
    for (const Waiting& waiting : waiting_)
      if (waiting.wait->for_message == for_message && named < kNamed) {
        waits += (named > 0 ? "; " : "") + waiting.wait->describe();
        ++named;
      }
  if (waiting_.size() > named) waits += "; and " + std::to_string(waiting_.size() - named) + " more wait";
  stop(std::make_exception_ptr(BackendFailure("executor", "no rank can go on: " + waits)));
}

}  // namespace hsap
