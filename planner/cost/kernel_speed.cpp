#include "planner/cost/kernel_speed.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "planner/ir/work.hpp"

namespace hsap {

namespace {

// Forward: fitted to every second row of NVIDIA aiconfigurator's attention tables (bf16, causal, batches of equal documents of
// 1 to 16,384 tokens), validated on the others; see README.md. Where a row has too few blocks to fill the GPU, that kernel
// splits keys over multiprocessors, which training kernels do not: such rows (0.8 blocks per multiprocessor or fewer, longer
// than 4 steps) are left out. Backward: fitted to published causal rows, validated on the rows without a mask.
const KernelFamily kFlashAttention3{.name = "FlashAttention-3",
                                    .tile = {128, 128},
                                    .tail_blocks = 0.0,          // its scheduler hands out the longest blocks first
                                    .lone_block_slowdown = 1.0,  // one block fills a multiprocessor
                                    .forward = {.matrix_efficiency = 0.987,
                                                .softmax_seconds_per_pair = 36.1e-12,
                                                .block_seconds = 0.917e-6,
                                                .launch_seconds = 8.63e-6,
                                                .memory_efficiency = 0.766},
                                    .backward = {.matrix_efficiency = 0.736,
                                                 .softmax_seconds_per_pair = 52.1e-12,
                                                 .block_seconds = 0.917e-6,  // assumed as forward
                                                 .launch_seconds = 69.8e-6,
                                                 .memory_efficiency = 0.439}};

const KernelFamily kFlashAttention2{
    .name = "FlashAttention-2",
    .tile = {128, 64},
    .tail_blocks = 1.66,
    .lone_block_slowdown = 1.49,  // two blocks share a multiprocessor
    .forward = {.matrix_efficiency = 0.773,
                .softmax_seconds_per_pair = 26.9e-12,  // from the published ratio of head sizes 64 and 128, measured is 128
                .block_seconds = 1.13e-6,
                .launch_seconds = 8.40e-6,
                .memory_efficiency = 1.10},  // above 1: mostly hidden behind the multiplications
    .backward = {.matrix_efficiency = 0.828,
                 .softmax_seconds_per_pair = 121e-12,
                 .block_seconds = 1.13e-6,  // assumed as forward
                 .launch_seconds = 28.4e-6,
                 .memory_efficiency = 1.10}};  // assumed as forward

const char* const kHopperSource =
    "forward fitted to 2,065 rows of H100 FlashAttention-3 (NVIDIA aiconfigurator, SGLang 0.5.14), mean error 7.3 %, "
    "largest 41 % on 2,066 others; backward fitted to 4 published rows (MagiAttention), mean error 2.4 % on 5 others";
const char* const kAmpereSource =
    "forward fitted to 1,644 rows of A100 attention (NVIDIA aiconfigurator, SGLang 0.5.10), mean error 7.0 %, "
    "largest 41 % on 1,637 others; backward fitted to 9 published rows (FlashAttention-2), mean error 3.7 % on 6 others";

/// Of peak FLOP/s, that a layer's matrix multiplications attain: the lower end of the 80 to 90 % that the FlashAttention-2
/// (A100) and FlashAttention-3 (H100) papers name, in their introductions, for optimised GEMM. Assumed of a layer as a whole:
/// norms and activations are not counted, nor are experts with few tokens.
constexpr double kLinearEfficiency = 0.80;

bool names_any(const std::string& name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

/// TF32 runs at half the bf16 rate on A100 and H100 (their datasheets); assumed for every kind.
double relative_matrix_rate(DType dtype) { return dtype == DType::fp32 ? 0.5 : 1.0; }

}  // namespace

KernelSpeed speed_of(const DeviceKind& device) {
  KernelSpeed speed{.family = &kFlashAttention2,
                    .matrix_flops_per_second = device.peak_flops_per_second / device.multiprocessors,
                    .multiprocessors = static_cast<double>(device.multiprocessors),
                    .memory_bytes_per_second = device.memory_bytes_per_second,
                    .source = {}};
  // Hopper and later; what is older, or unknown, runs FlashAttention-2.
  if (names_any(device.name, {"H100", "H200", "H800", "H20", "B200", "B300"})) speed.family = &kFlashAttention3;
  const std::string scaled = "attention assumed: constants of " +
                             std::string(speed.family == &kFlashAttention3 ? "H100" : "A100") + " " + speed.family->name +
                             " per multiprocessor, scaled by peak FLOP/s";
  // A measured kind is known by its multiprocessors too: an H100 PCIe has fewer than the H100 SXM that was measured.
  if (device.name.find("H100") != std::string::npos && device.multiprocessors == 132)
    speed.source = kHopperSource;
  else if (device.name.find("A100") != std::string::npos && device.multiprocessors == 108)
    speed.source = kAmpereSource;
  else
    speed.source = scaled;
  return speed;
}

double seconds_per_pair(const KernelSpeed& speed, const AttentionShape& shape, Phase phase) {
  const PassSpeed& pass = speed.family->pass(phase);
  const double matrix_rate = pass.matrix_efficiency * speed.matrix_flops_per_second * relative_matrix_rate(shape.dtype);
  return flops_per_pair(shape, phase) / matrix_rate + pass.softmax_seconds_per_pair;
}

double linear_flops_per_second(const KernelSpeed& speed, DType dtype) {
  return kLinearEfficiency * speed.multiprocessors * speed.matrix_flops_per_second * relative_matrix_rate(dtype);
}

std::string linear_source() {
  return "linear work assumed at " + std::to_string(std::lround(100 * kLinearEfficiency)) + " % of peak FLOP/s";
}

}  // namespace hsap
