// hsap-run: executes a plan and says how right and how fast that was.
#pragma once

#include <cstdint>
#include <string>

#include "tools/run/expectations.hpp"

namespace hsap {

struct RunOptions {
  std::string plan;
  std::string backend = "cpu";
  bool verify = false;
  int repeat = 1;
  std::uint64_t seed = 0;
  bool json = false;
  Expectations expectations;
};

/// Prints the report. Throws InvalidInput or BackendFailure, and std::runtime_error when --verify finds an error above the
/// tolerance.
void run_plan(const RunOptions& options);

}  // namespace hsap
