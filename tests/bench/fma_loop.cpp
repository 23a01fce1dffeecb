// Ten independent chains of multiply-adds: enough to fill two pipes of latency 4 or 5. Compiled per instruction set.
namespace hsap::HSAP_ISA {

using Vector [[gnu::vector_size(HSAP_LANES * sizeof(float))]] = float;

double fma_loop(long rounds);
double fma_loop(long rounds) {
  constexpr int kChains = 10;
  const Vector factor = Vector{} + 0.999f;
  const Vector term = Vector{} + 0.001f;
  Vector x[kChains] = {};
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
    for (int i = 0; i < kChains; ++i) x[i] = x[i] * factor + term;
  }
  Vector sum{};
  for (int i = 0; i < kChains; ++i) sum += x[i];
  volatile float keep = sum[0];
  (void)keep;
  return 2.0 * HSAP_LANES * kChains * static_cast<double>(rounds);
}

}  // namespace hsap::HSAP_ISA
