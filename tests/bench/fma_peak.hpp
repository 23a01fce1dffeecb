// The fp32 peak of this core, measured: independent multiply-adds in registers.
#pragma once

namespace hsap {

/// FLOP per second of CPU time with vectors of `lanes` fp32 numbers (16: AVX-512, 8: AVX2 and FMA, 4: baseline).
double fma_peak_flops_per_second(int lanes);

}  // namespace hsap
