#include "tools/text_table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "planner/ir/units.hpp"

namespace hsap {

namespace {

constexpr std::size_t kGap = 2;  // blanks between columns

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - text.size(), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

}  // namespace

void TextTable::add_column(const std::string& header, Align align) {
  Column column{{}, align};
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) column.header.push_back(line);
  columns_.push_back(std::move(column));
}

void TextTable::add_row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::size_t TextTable::header_lines() const {
  std::size_t most = 0;
  for (const Column& column : columns_) most = std::max(most, column.header.size());
  return most;
}

std::vector<std::string> TextTable::lines() const {
  const std::size_t headers = header_lines();
  std::vector<std::string> result(headers + rows_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::vector<std::string> cells(headers - column.header.size());
    cells.insert(cells.end(), column.header.begin(), column.header.end());
    for (const std::vector<std::string>& row : rows_) cells.push_back(row[c]);
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    for (std::size_t line = 0; line < cells.size(); ++line)
      result[line] += std::string(c == 0 ? 0 : kGap, ' ') + padded(cells[line], width, column.align);
  }
  for (std::string& line : result) line.erase(line.find_last_not_of(' ') + 1);
  return result;
}

int decimals_for(const std::vector<double>& values) {
  int decimals = 1;
  for (const double value : values)
    if (value > 0) decimals = std::max(decimals, 2 - static_cast<int>(std::floor(std::log10(value))));
  return std::min(decimals, 4);
}

std::string format_number(double value, int decimals) {
  if (value == 0) return "0";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  const std::string digits(text);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return format_count(std::stoll(digits.substr(0, point))) + digits.substr(point);
}

}  // namespace hsap
