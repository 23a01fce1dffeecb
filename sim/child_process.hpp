// Work in a forked child process, its result through a pipe. For libraries that live once per process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace hsap {

/// Starts on construction, so several run side by side. The work sees a copy of this process's memory; nothing it does is seen
/// here but its result. The child has one thread: the work must take no lock that another thread of this process may hold.
/// Handlers of process exit do not run in the child, and its buffered output is dropped.
class ChildProcess {
 public:
  using Work = std::function<std::vector<double>()>;
  /// Throws BackendFailure when the system gives no pipe or process.
  explicit ChildProcess(const Work& work);
  /// Ends the child if nobody has waited for it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Blocks until the work is done and returns its result; call once. Throws BackendFailure with the message of an exception
  /// that left the work, or saying how the child died.
  std::vector<double> result();

 private:
  int read_end_ = -1;
  pid_t child_ = -1;
};

}  // namespace hsap
