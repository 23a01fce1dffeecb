// What one layer costs and what links carry, in the few numbers by which placements are timed and bounded: seconds of a (query,
// key) pair, of a token's linear work, bytes of a token's keys and values, and the two speeds at which they arrive.
#pragma once

namespace hsap {

/// One pass (forward, say) of one layer on one of several equal ranks.
struct LayerCosts {
  double seconds_per_pair = 0;     ///< attention of one (query, key) pair, all heads; > 0
  double seconds_per_token = 0;    ///< everything else that a token costs: linear layers; >= 0
  double bytes_per_kv_token = 0;   ///< key and value of a token, all kv heads
  double queries_per_kv_head = 1;  ///< query heads that share a kv head
  int kv_heads = 1;
  /// Most that a rank receives per second, from whomever. Who counts all of it against the island's links, as
  /// layer_seconds.hpp does, gives those.
  double island_bytes_per_second = 0;
  /// Most that enters a node per second, over its number of ranks.
  double nic_bytes_per_second = 0;

  /// Pairs that take as long as a token's linear work.
  double pairs_per_token() const { return seconds_per_token / seconds_per_pair; }
  /// Pairs that take as long as a key and value on a NIC.
  double pairs_per_entering_key() const { return bytes_per_kv_token / nic_bytes_per_second / seconds_per_pair; }
};

/// Forward of a Llama-3-8B layer (32 query and 8 kv heads of 128, bf16; 218.1e6 weights in linear layers) at 400 TFLOP/s, 400
/// GB/s in the island and 45 GB/s per NIC: the constants by which published planners were compared (planbench/common.py, where
/// rates are assumed, not measured).
inline constexpr LayerCosts kLlama3Layer = {
    .seconds_per_pair = 4.0 * 128 * 32 / 4e14,
    .seconds_per_token = 2 * 218.1e6 / 4e14,
    .bytes_per_kv_token = 2.0 * 8 * 128 * 2,
    .queries_per_kv_head = 4,
    .kv_heads = 8,
    .island_bytes_per_second = 400e9,
    .nic_bytes_per_second = 45e9,
};

}  // namespace hsap
