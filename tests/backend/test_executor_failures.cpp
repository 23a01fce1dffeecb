// What the executor does when something is wrong: it stops, says where, and never hangs.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "backend/cpu/cpu_device.hpp"
#include "backend/cpu/host_memory.hpp"
#include "backend/cpu/run_on_threads.hpp"
#include "planner/ir/errors.hpp"
#include "tests/backend/hand_schedules.hpp"

using namespace hsap;
using Catch::Contains;

namespace {

/// A device that does something before each attention forward.
class HookedDevice : public CpuDevice {
 public:
  explicit HookedDevice(std::function<void()> before_attend)
      : CpuDevice(fastest_kernel_set()), before_attend_(std::move(before_attend)) {}
  void attend(AttentionKind kind, const AttendCall& call) override {
    before_attend_();
    CpuDevice::attend(kind, call);
  }

 private:
  std::function<void()> before_attend_;
};

/// Something that happens once or more.
class Event {
 public:
  void happen() {
    const std::lock_guard lock(mutex_);
    happened_ = true;
    condition_.notify_all();
  }
  /// False when it did not happen for a long time.
  bool wait() {
    std::unique_lock lock(mutex_);
    return condition_.wait_for(lock, std::chrono::seconds(20), [this] { return happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool happened_ = false;
};

/// A device that leaves its results unwritten.
class ForgetfulDevice : public CpuDevice {
 public:
  ForgetfulDevice() : CpuDevice(fastest_kernel_set()) {}
  void attend(AttentionKind, const AttendCall&) override {}
};

/// Memory of all ranks, in floats.
struct MemoryCount {
  std::atomic<std::size_t> now{0};
  std::atomic<std::size_t> most{0};
};
class CountingDevice : public CpuDevice {
 public:
  explicit CountingDevice(MemoryCount& count) : CpuDevice(fastest_kernel_set()), count_(count) {}
  DeviceMemory allocate(std::size_t floats) override {
    DeviceMemory memory = CpuDevice::allocate(floats);
    const std::size_t now = count_.now += floats;
    std::size_t most = count_.most;
    while (most < now && !count_.most.compare_exchange_weak(most, now)) {
    }
    const auto give_back = memory.get_deleter();
    return {memory.release(), [this, floats, give_back](float* freed) {
              count_.now -= floats;
              give_back(freed);
            }};
  }

 private:
  MemoryCount& count_;
};

AttentionShape shape() {
  AttentionShape shape;
  shape.query_heads = 2;
  shape.kv_heads = 1;
  shape.qk_dim = shape.v_dim = 4;
  return shape;
}

Schedule two_rank_ring() { return ring(shape(), DocumentMask({0, 40}), {TokenSet{{0, 20}}, TokenSet{{20, 40}}}); }

LayerInputs inputs_of(const Schedule& schedule) { return random_inputs(schedule.shape, schedule.mask.tokens(), 1); }

Exchange& first_exchange(Schedule& schedule, RankId rank) {
  for (Op& op : schedule.ranks[rank].forward)
    if (auto* exchange = std::get_if<Exchange>(&op.body)) return *exchange;
  throw std::logic_error("no exchange");
}

/// The message of the failure.
std::string failure_of(const Schedule& schedule) {
  try {
    execute_on_cpu(schedule, inputs_of(schedule));
  } catch (const BackendFailure& failure) {
    return failure.what();
  }
  return "no failure";
}

}  // namespace

TEST_CASE("executor: a message that is never sent is an error naming rank and op, not a hang") {
  Schedule schedule = two_rank_ring();
  first_exchange(schedule, 1).sends.clear();
  CHECK_THAT(failure_of(schedule), Contains("rank 0, forward op 0 (exchange) waits for message 0 from rank 1"));
}

TEST_CASE("executor: a message that is never received is an error naming rank and op, not a hang") {
  Schedule schedule = two_rank_ring();
  first_exchange(schedule, 1).recvs.clear();
  CHECK_THAT(failure_of(schedule), Contains("rank 0, forward op 0 (exchange) waits for rank 1 to receive its message"));
}

TEST_CASE("executor: an op that waits for a later one is refused by name") {
  Schedule schedule = one_rank(shape(), DocumentMask({0, 8}));
  schedule.ranks[0].forward[0].after = {0};
  CHECK_THROWS_WITH(execute_on_cpu(schedule, inputs_of(schedule)), Contains("rank 0, forward op 0 (attend): waits for op 0"));
}

TEST_CASE("executor: a message whose parts differ between its ends is an error naming both") {
  Schedule schedule = two_rank_ring();
  std::swap(first_exchange(schedule, 1).sends[0].parts[0], first_exchange(schedule, 1).sends[0].parts[1]);
  CHECK_THAT(failure_of(schedule), Contains("rank 0, forward op 0 (exchange)") && Contains("message 0 from rank 1") &&
                                       Contains("part 0 is v") && Contains("expected k"));
}

TEST_CASE("executor: an exception in one rank stops all ranks and is reported with rank, phase and op") {
  const Schedule schedule = two_rank_ring();
  for (const RankId bad : {RankId{0}, RankId{1}}) {
    CAPTURE(bad);
    const MakeDevice make_device = [bad](RankId rank) -> std::unique_ptr<Device> {
      return std::make_unique<HookedDevice>([rank, bad] {
        if (rank == bad) throw std::runtime_error("the device is on fire");
      });
    };
    CHECK_THROWS_WITH(run_on_threads(schedule, inputs_of(schedule), make_device),
                      Contains("rank " + std::to_string(bad) + ", forward op 1 (attend)") && Contains("the device is on fire"));
  }
}

TEST_CASE("executor: a result that nothing wrote is an error naming tensor, token and head") {
  const Schedule schedule = one_rank(shape(), DocumentMask({0, 8}));
  CHECK_THROWS_WITH(run_on_threads(schedule, inputs_of(schedule), [](RankId) { return std::make_unique<ForgetfulDevice>(); }),
                    Contains("result o is not finite at token 0, head 0"));
}

TEST_CASE("executor: inputs of other shapes, inputs that are not finite and slices outside their buffers are refused by name") {
  Schedule schedule = two_rank_ring();
  CHECK_THROWS_WITH(execute_on_cpu(schedule, random_inputs(shape(), 39, 1)), Contains("input q") && Contains("[39, 2, 4]"));
  LayerInputs inputs = inputs_of(schedule);
  inputs.k.values[4] = std::nanf("");
  CHECK_THROWS_WITH(execute_on_cpu(schedule, inputs), Contains("input k") && Contains("token 1, head 0"));

  std::get<Attend>(schedule.ranks[1].forward[1].body).q.heads = {0, 3};
  CHECK_THROWS_WITH(execute_on_cpu(schedule, inputs_of(schedule)),
                    Contains("rank 1, forward op 1 (attend)") && Contains("\"q\"") && Contains("0..3") && Contains("0..2"));
  std::get<Attend>(schedule.ranks[1].forward[1].body).q.heads = {0, 1};
  CHECK_THROWS_AS(execute_on_cpu(schedule, inputs_of(schedule)), BackendFailure);

  schedule = two_rank_ring();
  schedule.ranks[1].boundary.d_o = 1000;
  CHECK_THROWS_WITH(execute_on_cpu(schedule, inputs_of(schedule)),
                    Contains("rank 1") && Contains("d_o") && Contains("buffer 1000"));
  schedule.ranks[1].boundary.d_o = schedule.ranks[1].boundary.k;
  CHECK_THROWS_WITH(execute_on_cpu(schedule, inputs_of(schedule)), Contains("rank 1") && Contains("d_o") && Contains("\"k\""));
}

TEST_CASE("executor: exchange and computing of one rank overlap") {
  // Rank 0 attends until rank 1 has its message, and rank 1 posts its exchange only after rank 0 attends: so rank 0's exchange
  // can only end inside rank 0's attention (its clock may be read a little later). Streams that took turns would meet the
  // time-out of the second wait.
  Schedule schedule = two_rank_ring();
  PooledList<Op>& later = schedule.ranks[1].forward;
  std::swap(later[0], later[1]);  // first attend, then the exchange
  later[0].id = 0;
  later[1].id = 1;
  later[1].after = {0};
  later[2].after = {1};
  Event rank_0_attends;
  Event rank_1_has_its_message;
  std::atomic<int> attends_of_rank_1{0};
  std::atomic<bool> timed_out{false};  // Catch2's checks are for one thread only
  const auto note_time_out = [&](bool in_time) {
    if (!in_time) timed_out = true;
  };
  const MakeDevice make_device = [&](RankId rank) -> std::unique_ptr<Device> {
    if (rank == 0)
      return std::make_unique<HookedDevice>([&] {
        rank_0_attends.happen();
        note_time_out(rank_1_has_its_message.wait());
      });
    return std::make_unique<HookedDevice>([&] {
      if (++attends_of_rank_1 == 1)
        note_time_out(rank_0_attends.wait());
      else
        rank_1_has_its_message.happen();
    });
  };
  const PhaseTimeline forward = run_on_threads(schedule, inputs_of(schedule), make_device).timeline.forward;
  const OpTime exchange = forward.ranks[0][0];
  const OpTime attend = forward.ranks[0][1];
  CHECK_FALSE(timed_out);
  CHECK(attend.begin < exchange.end);
}

TEST_CASE("executor: memory is given back after the last use and stays within what was asked of the host") {
  Schedule schedule = ring(shape(), DocumentMask({0, 400}),
                           {TokenSet{{0, 100}}, TokenSet{{100, 200}}, TokenSet{{200, 300}}, TokenSet{{300, 400}}});
  double all_buffers = 0;
  for (RankId rank = 0; rank < 4; ++rank)
    for (const Buffer& buffer : schedule.ranks[rank].buffers)
      all_buffers += 100.0 * buffer.heads.size() * width_of(buffer.role, schedule.shape);
  MemoryCount count;
  run_on_threads(schedule, inputs_of(schedule), [&](RankId) { return std::make_unique<CountingDevice>(count); });
  CHECK(count.now == 0);
  CHECK(static_cast<double>(count.most) < 0.8 * all_buffers);
  CHECK(static_cast<double>(count.most) * sizeof(float) <= host_bytes_needed(schedule));
}

TEST_CASE("executor: a plan that does not fit into the host's memory is refused with need and have") {
  CHECK(host_bytes_available() > 1e6);
  CHECK_NOTHROW(check_host_memory(1e9, 2e9));
  CHECK_THROWS_WITH(check_host_memory(3.0 * (1 << 30), 1.0 * (1 << 30)),
                    Contains("needs 3.00 GiB") && Contains("1.00 GiB available"));
}
