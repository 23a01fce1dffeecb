// Working memory of one kernel call. Out of line on purpose: the kernels are compiled for several processors, and a shared
// inline function could end up in the program in the version that only the newest of them can run.
#pragma once

#include "backend/slice_view.hpp"

namespace hsap {

class Scratch {
 public:
  /// Uninitialised, aligned to 64 bytes. Throws std::bad_alloc.
  explicit Scratch(Index floats);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  float* const floats;
};

}  // namespace hsap
