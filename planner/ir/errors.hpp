// The kinds of failure that a user of hsap can meet. Each becomes one line on stderr in tools/ (exit status 1).
// Mistakes of our own are asserts, not exceptions.
#pragma once

#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>

namespace hsap {

/// A person's file, flag or value is wrong. The message says where, what was found, what was expected and what would work.
class InvalidInput : public std::runtime_error {
 public:
  explicit InvalidInput(const std::string& message) : std::runtime_error(message) {}
  /// "FILE:LINE: message" (line counts from 1; 0 = the file as a whole, printed as "FILE: message").
  InvalidInput(const std::string& file, std::size_t line, const std::string& message);
};

/// A feature that this build lacks; names the CMake option that brings it.
class NotBuilt : public std::runtime_error {
 public:
  NotBuilt(const std::string& feature, const std::string& cmake_option);
};

/// A backend call (thread, SimGrid, MPI, CUDA, NCCL) failed: which call, with what code, at which place of our source.
class BackendFailure : public std::runtime_error {
 public:
  BackendFailure(const std::string& call, const std::string& reason,
                 std::source_location where = std::source_location::current());
};

}  // namespace hsap
