// The one place where text such as "400 Gb/s", "5 us" or "80 GiB" becomes an SI number and back.
// Everything inside hsap is SI: bytes, seconds, bytes per second, FLOP per second. 1 GB = 1e9 B, 1 GiB = 2^30 B, 1 Gb = 1e9
// bit.
#pragma once

#include <string>
#include <string_view>

namespace hsap {

/// "450 GB/s", "400 Gb/s", "2 TB/s", "900 MB/s" -> bytes per second. Throws InvalidInput that names the units accepted.
double parse_bytes_per_second(std::string_view text);
/// "5 us", "700 ns", "1 ms", "2 s" -> seconds. Throws InvalidInput.
double parse_seconds(std::string_view text);
/// "80 GiB", "80 GB", "512 MiB", "40960 B" -> bytes. Throws InvalidInput.
double parse_bytes(std::string_view text);
/// "989 TFLOP/s", "1.5 PFLOP/s", "400 GFLOP/s" -> FLOP per second. Throws InvalidInput.
double parse_flops_per_second(std::string_view text);

/// Three significant digits with a binary unit: 1572864 -> "1.50 MiB".
std::string format_bytes(double bytes);
/// Three significant digits: 0.00123 -> "1.23 ms".
std::string format_seconds(double seconds);
/// 262144 -> "262,144".
std::string format_count(long long count);

}  // namespace hsap
