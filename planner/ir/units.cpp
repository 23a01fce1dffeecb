#include "planner/ir/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

/// One unit is 10^exponent x factor of the SI unit; factor is a power of two. The exponent is read together with the digits, so
/// that "5 us" is the double nearest to 5e-6 and not 5 x the double nearest to 1e-6.
struct Unit {
  std::string_view name;
  int exponent;
  double factor;
};

constexpr double kKibi = 1024, kMebi = kKibi * 1024, kGibi = kMebi * 1024, kTebi = kGibi * 1024, kPebi = kTebi * 1024;
constexpr double kBit = 0.125;  // bytes

constexpr std::array kRates{Unit{"GB/s", 9, 1},      Unit{"Gb/s", 9, kBit},  Unit{"TB/s", 12, 1}, Unit{"Tb/s", 12, kBit},
                            Unit{"MB/s", 6, 1},      Unit{"Mb/s", 6, kBit},  Unit{"kB/s", 3, 1},  Unit{"B/s", 0, 1},
                            Unit{"GiB/s", 0, kGibi}, Unit{"MiB/s", 0, kMebi}};
constexpr std::array kTimes{Unit{"ns", -9, 1}, Unit{"us", -6, 1}, Unit{"ms", -3, 1}, Unit{"s", 0, 1}};
constexpr std::array kSizes{Unit{"B", 0, 1},       Unit{"KiB", 0, kKibi}, Unit{"MiB", 0, kMebi},
                            Unit{"GiB", 0, kGibi}, Unit{"TiB", 0, kTebi}, Unit{"kB", 3, 1},
                            Unit{"MB", 6, 1},      Unit{"GB", 9, 1},      Unit{"TB", 12, 1}};
constexpr std::array kSpeeds{Unit{"TFLOP/s", 12, 1}, Unit{"PFLOP/s", 15, 1}, Unit{"GFLOP/s", 9, 1}, Unit{"MFLOP/s", 6, 1},
                             Unit{"FLOP/s", 0, 1}};

/// For messages of one line: control characters become blanks, long text is cut.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return "\"" + shown + (text.size() > kLongest ? "...\"" : "\"");
}

[[noreturn]] void refuse(std::string_view text, const char* quantity, const std::string& reason, std::span<const Unit> units,
                         const char* example) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  throw InvalidInput(quoted(text) + " is no " + quantity + ": " + reason + "; write a number and one of " + names +
                     ", for example \"" + example + "\"");
}

std::string_view without_outer_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Digits, at most one point, no sign, no exponent, no separators; then blanks and a unit.
double parse(std::string_view text, const char* quantity, std::span<const Unit> units, const char* example) {
  const std::string_view trimmed = without_outer_blanks(text);
  const std::size_t digits = std::min(trimmed.find_first_not_of("0123456789."), trimmed.size());
  const std::string_view number = trimmed.substr(0, digits);
  if (trimmed.starts_with('-')) refuse(text, quantity, "it is negative", units, example);
  if (number.empty() || number.front() == '.') refuse(text, quantity, "it does not begin with a number", units, example);
  const std::string_view name = without_outer_blanks(trimmed.substr(digits));
  if (name.empty()) refuse(text, quantity, "it has no unit", units, example);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const std::string decimal = std::string(number) + "e" + std::to_string(unit.exponent);
    double value = 0;
    const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
    if (end != decimal.data() + decimal.size()) refuse(text, quantity, "the number is malformed", units, example);
    if (error != std::errc() || !std::isfinite(value * unit.factor)) {
      refuse(text, quantity, "the number is out of range", units, example);
    }
    return value * unit.factor;
  }
  refuse(text, quantity, "the unit " + quoted(name) + " is unknown (case matters: b is bit, B is byte)", units, example);
}

/// 1.235 -> "1.24", 12.35 -> "12.4", 999.4 -> "999". For 0 <= value.
std::string three_digits(double value) {
  const int decimals = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

}  // namespace

double parse_bytes_per_second(std::string_view text) { return parse(text, "bandwidth", kRates, "400 Gb/s"); }
double parse_seconds(std::string_view text) { return parse(text, "time", kTimes, "5 us"); }
double parse_bytes(std::string_view text) { return parse(text, "size", kSizes, "80 GiB"); }
double parse_flops_per_second(std::string_view text) { return parse(text, "computing speed", kSpeeds, "989 TFLOP/s"); }

std::string format_bytes(double bytes) {
  if (bytes < 0) return "-" + format_bytes(-bytes);
  if (bytes < 999.5 && bytes == std::floor(bytes)) return std::to_string(static_cast<int>(bytes)) + " B";
  constexpr std::array kScale{Unit{"B", 0, 1},       Unit{"KiB", 0, kKibi}, Unit{"MiB", 0, kMebi},
                              Unit{"GiB", 0, kGibi}, Unit{"TiB", 0, kTebi}, Unit{"PiB", 0, kPebi}};
  std::size_t i = 0;
  while (i + 1 < kScale.size() && bytes / kScale[i].factor >= 999.5) ++i;
  return three_digits(bytes / kScale[i].factor) + " " + std::string(kScale[i].name);
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return "-" + format_seconds(-seconds);
  if (seconds == 0) return "0 s";
  constexpr std::array<const char*, 4> kNames{"ns", "us", "ms", "s"};
  double value = seconds * 1e9;
  std::size_t i = 0;
  for (; i + 1 < kNames.size() && value >= 999.5; ++i) value /= 1000;
  return three_digits(value) + " " + kNames[i];
}

std::string format_count(long long count) {
  std::string text = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3;) text.insert(i -= 3, ",");
  return text;
}

}  // namespace hsap
