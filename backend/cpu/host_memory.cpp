#include "backend/cpu/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "backend/cpu/kernel_set.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/memory.hpp"
#include "planner/ir/units.hpp"
#include "planner/ir/work.hpp"

namespace hsap {

namespace {

double scratch_bytes(const Schedule& schedule, RankId rank, const OpBody& body) {
  const AttentionShape& shape = schedule.shape;
  if (const auto* attend = std::get_if<Attend>(&body))
    return attend_scratch_bytes(rows_of(schedule, rank, attend->k), shape.qk_dim, shape.v_dim);
  if (const auto* backward = std::get_if<AttendBackward>(&body))
    return attend_backward_scratch_bytes(rows_of(schedule, rank, backward->k), shape.qk_dim, shape.v_dim);
  return 0;  // the others need less than one row block
}

/// nullopt where there is no such file or no number in it ("max": no limit).
std::optional<double> number_in(const std::string& file) {
  double number = 0;
  std::ifstream stream(file);
  return stream >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

double host_bytes_needed(const Schedule& schedule) {
  Schedule as_executed = schedule;
  for (RankProgram& program : as_executed.ranks)
    for (Buffer& buffer : program.buffers) buffer.dtype = DType::fp32;
  double bytes = 0;
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    bytes += memory_of(as_executed, rank).peak_bytes;
    double scratch = 0;
    for (const Phase phase : {Phase::forward, Phase::backward})
      for (const Op& op : ops_of(schedule.ranks[rank], phase))
        scratch = std::max(scratch, scratch_bytes(schedule, rank, op.body));
    bytes += scratch;
  }
  const AttentionShape& shape = schedule.shape;
  const double result_elements = static_cast<double>(shape.query_heads + shape.kv_heads) * (shape.qk_dim + shape.v_dim);
  return bytes + static_cast<double>(schedule.mask.tokens()) * result_elements * sizeof(float);
}

double host_bytes_available() {
  std::ifstream meminfo("/proc/meminfo");
  double available = -1;
  for (std::string key, unit; meminfo >> key && available < 0;) {
    double kibibytes = 0;
    meminfo >> kibibytes;
    std::getline(meminfo, unit);
    if (key == "MemAvailable:") available = kibibytes * 1024;
  }
  if (available < 0) throw BackendFailure("reading /proc/meminfo", "found no line MemAvailable");
  // Control groups as a container sees its own: version 2, then version 1.
  for (const auto& [limit_file, use_file] :
       {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        std::pair{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const std::optional<double> limit = number_in(limit_file);
    const std::optional<double> used = number_in(use_file);
    if (limit && used) available = std::min(available, std::max(0.0, *limit - *used));
  }
  return available;
}

void check_host_memory(double needed, double available) {
  if (needed > available)
    throw InvalidInput("executing this plan needs " + format_bytes(needed) + " of host memory, found " +
                       format_bytes(available) + " available; use fewer tokens, fewer heads or a host with more memory");
}

}  // namespace hsap
