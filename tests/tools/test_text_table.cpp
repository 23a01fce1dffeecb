#include <catch2/catch.hpp>

#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

TEST_CASE("text table: columns are aligned, headers stand at the bottom, no line ends in blanks") {
  TextTable table;
  table.add_column("name", Align::left);
  table.add_column("time\nms", Align::right);
  table.add_column("fits", Align::left);
  table.add_row({"ring", "12.5", "yes"});
  table.add_row({"ulysses", "3.5", ""});
  const std::vector<std::string> expected = {
      "         time",
      "name       ms  fits",
      "ring     12.5  yes",
      "ulysses   3.5",
  };
  CHECK(table.lines() == expected);
  CHECK(table.header_lines() == 2);
}

TEST_CASE("text table: the smallest value decides the decimals of a column") {
  CHECK(decimals_for({12.34, 0.25}) == 3);
  CHECK(decimals_for({1234, 120}) == 1);
  CHECK(decimals_for({0.0001}) == 4);
  CHECK(decimals_for({0, 5}) == 2);
  CHECK(decimals_for({}) == 1);
}

TEST_CASE("text table: numbers carry thousands separators and keep their decimals") {
  CHECK(format_number(1234.5678, 1) == "1,234.6");
  CHECK(format_number(0, 3) == "0");
  CHECK(format_number(999.96, 1) == "1,000.0");
  CHECK(format_number(0.05, 2) == "0.05");
}

TEST_CASE("wrapped: breaks at blanks, indents what follows, keeps long words whole") {
  CHECK(wrapped("one two three", 7, 2) == "one two\n  three");
  CHECK(wrapped("incomprehensible it is", 5, 0) == "incomprehensible\nit is");
  CHECK(wrapped("", 5, 0).empty());
}

TEST_CASE("labelled: text keeps to its own column") {
  const std::string text(kLineWidth - 8, 'x');
  CHECK(labelled("note", 8, "a " + text) == "note    a\n        " + text);
  CHECK(labelled("note", 8, "") == "note    ");
}

}  // namespace hsap
