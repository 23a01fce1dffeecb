// One line on standard error that says how far a long command is: shown only on a terminal and only after two seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hsap {

class ProgressLine {
 public:
  ProgressLine() : start_(Clock::now()) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Wipes the line.
  ~ProgressLine();

  /// `done` of `total` are finished and `what` comes next.
  void show(std::size_t done, std::size_t total, const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
  bool shown_ = false;
};

}  // namespace hsap
