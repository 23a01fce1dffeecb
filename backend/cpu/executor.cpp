#include "backend/executor.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/host_memory.hpp"
#include "backend/cpu/run_on_threads.hpp"
#include "backend/cpu/thread_communicator.hpp"
#include "backend/cpu/worker_threads.hpp"
#include "backend/rank_walker.hpp"
#include "backend/tensors.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// verify() says more; this keeps scatter and gather inside their memory when it was not asked.
void check_boundary(const Schedule& schedule, RankId rank, Role role, BufferId id) {
  const PooledList<Buffer>& buffers = schedule.ranks[rank].buffers;
  const std::string place = "rank " + std::to_string(rank) + ", boundary " + to_string(role);
  if (id >= buffers.size())
    throw InvalidInput(place + ": names buffer " + std::to_string(id) + ", expected one below " +
                       std::to_string(buffers.size()));
  const Buffer& buffer = buffers[id];
  const int heads = has_query_heads(role) ? schedule.shape.query_heads : schedule.shape.kv_heads;
  const TokenSet batch{{0, schedule.mask.tokens()}};
  if (buffer.role != role || buffer.heads != HeadRange{0, heads} || buffer.tokens >= schedule.token_sets.size() ||
      !batch.contains(schedule.tokens(buffer.tokens)))
    throw InvalidInput(place + ": names buffer \"" + buffer.name.text() + "\", expected one of role " + to_string(role) +
                       " with all heads and tokens of the batch");
}

void check_boundary(const Schedule& schedule, RankId rank) {
  const RankBoundary& boundary = schedule.ranks[rank].boundary;
  check_boundary(schedule, rank, Role::q, boundary.q);
  check_boundary(schedule, rank, Role::k, boundary.k);
  check_boundary(schedule, rank, Role::v, boundary.v);
  check_boundary(schedule, rank, Role::o, boundary.o);
  check_boundary(schedule, rank, Role::d_o, boundary.d_o);
  check_boundary(schedule, rank, Role::d_q, boundary.d_q);
  check_boundary(schedule, rank, Role::d_k, boundary.d_k);
  check_boundary(schedule, rank, Role::d_v, boundary.d_v);
}

struct Rank {
  Rank(const Schedule& schedule, RankId id, std::unique_ptr<Device> its_device)
      : device(std::move(its_device)), memory(schedule, id, *device) {}
  std::unique_ptr<Device> device;
  RankMemory memory;
};

/// All ranks of one run. A phase runs on threads of its own; waiting for the last of them is the barrier between the phases.
class Run {
 public:
  Run(const Schedule& schedule, const MakeDevice& make_device) : schedule_(schedule), rows_(schedule) {
    for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) check_boundary(schedule, rank);
    for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
      ranks_.push_back(std::make_unique<Rank>(schedule, rank, make_device(rank)));
  }

  /// The rank owns some rows of the batch, in one of its boundary buffers.
  void scatter(const HostTensor& tensor, BufferId RankBoundary::*which) {
    for_each_piece(tensor, which,
                   [](const float* host, float* buffer, std::size_t floats) { std::copy_n(host, floats, buffer); });
  }

  HostTensor gather(const std::string& name, HostTensor result, BufferId RankBoundary::*which) {
    std::fill(result.values.begin(), result.values.end(), std::numeric_limits<float>::quiet_NaN());
    for_each_piece(result, which,
                   [](float* host, const float* buffer, std::size_t floats) { std::copy_n(buffer, floats, host); });
    if (const std::string place = first_not_finite(result); !place.empty())
      throw BackendFailure("executor", "result " + name + " is not finite at " + place);
    return result;
  }

  PhaseTimeline run(Phase phase);

 private:
  /// Calls piece(host rows, buffer rows, floats) for each range of tokens of each rank.
  template <class Tensor, class Piece>
  void for_each_piece(Tensor& tensor, BufferId RankBoundary::*which, Piece&& piece) {
    const Token row = Token{tensor.heads} * tensor.width;
    for (RankId rank = 0; rank < ranks_.size(); ++rank) {
      const BufferId id = schedule_.ranks[rank].boundary.*which;
      float* buffer = ranks_[rank]->memory.begin_use(id);
      for (const TokenRange& range : schedule_.tokens(schedule_.buffer(rank, id).tokens).ranges()) {
        piece(tensor.values.data() + range.begin * row, buffer, static_cast<std::size_t>(range.size() * row));
        buffer += range.size() * row;
      }
      ranks_[rank]->memory.end_use(id);
    }
  }

  const Schedule& schedule_;
  RowTables rows_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

PhaseTimeline Run::run(Phase phase) {
  PhaseTimeline timeline;
  timeline.ranks.resize(ranks_.size());
  Monitor monitor;
  ThreadMail mail(monitor);
  std::vector<std::unique_ptr<ThreadCommunicator>> communicators;
  std::vector<std::unique_ptr<RankWalker>> walkers;
  for (RankId rank = 0; rank < ranks_.size(); ++rank) {
    communicators.push_back(std::make_unique<ThreadCommunicator>(mail, rank));
    const RankResources resources{rows_, ranks_[rank]->memory, *ranks_[rank]->device, *communicators.back(), monitor};
    walkers.push_back(std::make_unique<RankWalker>(schedule_, rank, phase, resources, timeline.ranks[rank]));
  }

  std::vector<WorkerTask> streams;
  for (const auto& walker : walkers)
    for (const int stream : walker->streams()) {
      monitor.enter();
      streams.push_back([&monitor, &walker = *walker, stream](std::chrono::steady_clock::time_point start) {
        try {
          walker.run_stream(stream, start);
        } catch (const Stopped&) {
        } catch (...) {
          monitor.fail(std::current_exception());
        }
        monitor.leave();
      });
    }
  monitor.leave();
  WorkerThreads::shared().run(std::move(streams));
  if (monitor.failure()) std::rethrow_exception(monitor.failure());
  return timeline;
}

}  // namespace

Execution run_on_threads(const Schedule& schedule, const LayerInputs& inputs, const MakeDevice& make_device) {
  check_inputs(schedule.shape, schedule.mask.tokens(), inputs);
  Run run(schedule, make_device);
  check_host_memory(host_bytes_needed(schedule), host_bytes_available());
  Execution execution;
  LayerResults& results = execution.results;

  run.scatter(inputs.q, &RankBoundary::q);
  run.scatter(inputs.k, &RankBoundary::k);
  run.scatter(inputs.v, &RankBoundary::v);
  execution.timeline.forward = run.run(Phase::forward);
  results.o = run.gather("o", make_tensor(inputs.q.tokens, inputs.q.heads, inputs.v.width), &RankBoundary::o);

  run.scatter(inputs.d_o, &RankBoundary::d_o);
  execution.timeline.backward = run.run(Phase::backward);
  results.d_q = run.gather("d_q", make_tensor(inputs.q.tokens, inputs.q.heads, inputs.q.width), &RankBoundary::d_q);
  results.d_k = run.gather("d_k", make_tensor(inputs.k.tokens, inputs.k.heads, inputs.k.width), &RankBoundary::d_k);
  results.d_v = run.gather("d_v", make_tensor(inputs.v.tokens, inputs.v.heads, inputs.v.width), &RankBoundary::d_v);
  return execution;
}

Execution execute_on_cpu(const Schedule& schedule, const LayerInputs& inputs) {
  return run_on_threads(schedule, inputs, [](RankId) { return std::make_unique<CpuDevice>(fastest_kernel_set()); });
}

}  // namespace hsap
