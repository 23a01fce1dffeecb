// units.hpp: text with units to SI numbers and back.
#include <catch2/catch.hpp>
#include <climits>
#include <cmath>
#include <random>
#include <string>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"

namespace hsap {
namespace {

TEST_CASE("units: every unit is the double nearest to its SI value") {
  CHECK(parse_bytes_per_second("450 GB/s") == 450e9);
  CHECK(parse_bytes_per_second("400 Gb/s") == 50e9);
  CHECK(parse_bytes_per_second("3.35 TB/s") == 3.35e12);
  CHECK(parse_bytes_per_second("1.6 Tb/s") == 0.2e12);
  CHECK(parse_bytes_per_second("900 MB/s") == 900e6);
  CHECK(parse_bytes_per_second("100 Mb/s") == 12.5e6);
  CHECK(parse_bytes_per_second("7 kB/s") == 7e3);
  CHECK(parse_bytes_per_second("7 B/s") == 7);
  CHECK(parse_bytes_per_second("2 MiB/s") == 2097152);
  CHECK(parse_bytes_per_second("1 GiB/s") == 1073741824);
  CHECK(parse_seconds("5 us") == 5e-6);
  CHECK(parse_seconds("3.4 us") == 3.4e-6);
  CHECK(parse_seconds("700 ns") == 700e-9);
  CHECK(parse_seconds("1 ms") == 1e-3);
  CHECK(parse_seconds("2 s") == 2);
  CHECK(parse_seconds("0 s") == 0);
  CHECK(parse_bytes("40960 B") == 40960);
  CHECK(parse_bytes("4 KiB") == 4096);
  CHECK(parse_bytes("512 MiB") == 536870912);
  CHECK(parse_bytes("80 GiB") == 85899345920.0);
  CHECK(parse_bytes("1.5 TiB") == 1649267441664.0);
  CHECK(parse_bytes("3 kB") == 3000);
  CHECK(parse_bytes("2.5 MB") == 2.5e6);
  CHECK(parse_bytes("80 GB") == 80e9);
  CHECK(parse_bytes("1 TB") == 1e12);
  CHECK(parse_flops_per_second("989.4 TFLOP/s") == 989.4e12);
  CHECK(parse_flops_per_second("2.5 PFLOP/s") == 2.5e15);
  CHECK(parse_flops_per_second("400 GFLOP/s") == 400e9);
  CHECK(parse_flops_per_second("3 MFLOP/s") == 3e6);
  CHECK(parse_flops_per_second("3 FLOP/s") == 3);
}

TEST_CASE("units: blanks around and before the unit do not matter") {
  CHECK(parse_seconds("  5us\t") == 5e-6);
  CHECK(parse_seconds("5   us") == 5e-6);
}

TEST_CASE("units: what cannot be read is refused with the reason and the units that work") {
  struct Case {
    double (*parse)(std::string_view);
    const char* text;
    const char* reason;
  };
  const Case cases[] = {
      {parse_seconds, "", "does not begin with a number"},
      {parse_seconds, "us", "does not begin with a number"},
      {parse_seconds, ".5 us", "does not begin with a number"},
      {parse_seconds, "inf s", "does not begin with a number"},
      {parse_seconds, "nan s", "does not begin with a number"},
      {parse_seconds, "-5 us", "is negative"},
      {parse_seconds, "5", "has no unit"},
      {parse_seconds, "5 min", "unit \"min\" is unknown"},
      {parse_seconds, "5e3 us", "is unknown"},
      {parse_seconds, "1.2.3 us", "malformed"},
      {parse_seconds, "5 us 6 us", "is unknown"},
      {parse_seconds, "5 us\nand more", "\"5 us and more\" is no time"},
      {parse_bytes_per_second, "400 Gbps", "write a number and one of GB/s, Gb/s"},
      {parse_bytes_per_second, "400 gb/s", "b is bit, B is byte"},
      {parse_bytes_per_second, "400 GB", "\"GB\" is unknown"},
      {parse_bytes, "1,024 GB", "\",024 GB\" is unknown"},
      {parse_bytes, "80 GB/s", "for example \"80 GiB\""},
      {parse_flops_per_second, "989 TFLOPS", "one of TFLOP/s"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH(c.parse(c.text), Catch::Contains(c.reason));
    CHECK_THROWS_AS(c.parse(c.text), InvalidInput);
  }
  CHECK_THROWS_WITH(parse_bytes(std::string(400, '9') + " B"), Catch::Contains("out of range"));
}

TEST_CASE("units: sizes and times are shown with three digits") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(7) == "7 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(1000) == "0.977 KiB");
  CHECK(format_bytes(1024) == "1.00 KiB");
  CHECK(format_bytes(1572864) == "1.50 MiB");
  CHECK(format_bytes(1023 * 1048576.0) == "0.999 GiB");
  CHECK(format_bytes(12.34 * 1073741824) == "12.3 GiB");
  CHECK(format_bytes(99.96 * 1073741824) == "100 GiB");
  CHECK(format_bytes(-1572864) == "-1.50 MiB");
  CHECK(format_seconds(0) == "0 s");
  CHECK(format_seconds(0.00123) == "1.23 ms");
  CHECK(format_seconds(5e-6) == "5.00 us");
  CHECK(format_seconds(1.5e-10) == "0.150 ns");
  CHECK(format_seconds(0.9999996) == "1.00 s");
  CHECK(format_seconds(123.4) == "123 s");
  CHECK(format_seconds(-0.00123) == "-1.23 ms");
}

TEST_CASE("units: counts are shown in groups of three") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(262144) == "262,144");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_count(-123) == "-123");
  CHECK(format_count(LLONG_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("units: what is shown can be read back to within half of the last digit") {
  constexpr unsigned kSeed = 2;
  INFO("seed " << kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<double> exponent(-8, 2);
  for (int i = 0; i < 200; ++i) {
    const double seconds = std::pow(10, exponent(random));
    CAPTURE(seconds);
    CHECK(parse_seconds(format_seconds(seconds)) == Approx(seconds).epsilon(0.0051));
    const double bytes = seconds * 1e9;
    CHECK(parse_bytes(format_bytes(bytes)) == Approx(bytes).epsilon(0.0051));
  }
}

}  // namespace
}  // namespace hsap
