#include "sim/child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// What the child writes first; then `size` doubles, or `size` characters of an error message.
struct Header {
  std::uint64_t failed;
  std::uint64_t size;
};

void write_all(int file, const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(file, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(2);  // nobody reads any more
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

/// False when the other end was closed first.
bool read_all(int file, void* data, std::size_t bytes) {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(file, next, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// What this process had buffered for its standard output must not come out twice, should the child's libraries flush it.
void silence_standard_output() {
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  dup2(nowhere, STDOUT_FILENO);
  close(nowhere);
}

[[noreturn]] void run_child(int file, const ChildProcess::Work& work) {
  silence_standard_output();
  std::string error;
  std::vector<double> result;
  bool failed = false;
  try {
    result = work();
  } catch (const std::exception& exception) {
    failed = true;
    error = exception.what();
  } catch (...) {
    failed = true;
    error = "unknown exception";
  }
  const Header header{failed, failed ? error.size() : result.size()};
  write_all(file, &header, sizeof header);
  if (failed)
    write_all(file, error.data(), error.size());
  else
    write_all(file, result.data(), result.size() * sizeof(double));
  _exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return std::string("it was ended by signal ") + strsignal(WTERMSIG(status));
  return "it ended with status " + std::to_string(WEXITSTATUS(status)) + " before it had a result";
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

ChildProcess::ChildProcess(const Work& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw BackendFailure("pipe", std::strerror(errno));
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    run_child(ends[1], work);
  }
  const int error = errno;
  close(ends[1]);
  if (child_ < 0) {
    close(ends[0]);
    throw BackendFailure("fork", std::strerror(error));
  }
  read_end_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    wait_for(child_);
  }
  if (read_end_ >= 0) close(read_end_);
}

std::vector<double> ChildProcess::result() {
  Header header{};
  std::vector<double> numbers;
  std::string error;
  bool complete = read_all(read_end_, &header, sizeof header);
  if (complete && header.failed) {
    error.resize(header.size);
    complete = read_all(read_end_, error.data(), error.size());
  } else if (complete) {
    numbers.resize(header.size);
    complete = read_all(read_end_, numbers.data(), numbers.size() * sizeof(double));
  }
  const int status = wait_for(child_);
  child_ = -1;
  if (!complete) throw BackendFailure("child process", how_it_ended(status));
  if (header.failed) throw BackendFailure("child process", error);
  return numbers;
}

}  // namespace hsap
