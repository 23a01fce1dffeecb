#include "tools/progress_line.hpp"

#include <algorithm>
#include <iostream>

#include "tools/terminal.hpp"

namespace hsap {

namespace {
constexpr std::chrono::seconds kPatience{2};
constexpr std::size_t kBarCells = 30;
constexpr const char* kWipe = "\r\x1b[K";
}  // namespace

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << kWipe << std::flush;
}

void ProgressLine::show(std::size_t done, std::size_t total, const std::string& what) {
  if (!stderr_is_terminal() || Clock::now() - start_ < kPatience) return;
  const std::size_t filled = kBarCells * done / std::max<std::size_t>(total, 1);
  std::cerr << kWipe << '[' << std::string(filled, '#') << std::string(kBarCells - filled, '.') << "] " << done << " of "
            << total << ": " << what << std::flush;
  shown_ = true;
}

}  // namespace hsap
