// A table for people: aligned columns, numbers to the right, as few decimals as tell the rows apart.
#pragma once

#include <string>
#include <vector>

namespace hsap {

enum class Align { left, right };

/// Headers may have several lines ("sent\nMiB"); they are set against the bottom.
class TextTable {
 public:
  void add_column(const std::string& header, Align align);
  void add_row(std::vector<std::string> cells);
  /// Header lines and rows, each without trailing blanks.
  std::vector<std::string> lines() const;
  /// Header lines that lines() begins with.
  std::size_t header_lines() const;

 private:
  struct Column {
    std::vector<std::string> header;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Decimals with which the smallest of the values above 0 still shows three digits: 1 to 4.
/// {12.34, 0.25} -> 3; {1234, 120} -> 1; {0.0001} -> 4.
int decimals_for(const std::vector<double>& values);
/// 1234.5678 with 1 decimal -> "1,234.6". 0 -> "0".
std::string format_number(double value, int decimals);

}  // namespace hsap
