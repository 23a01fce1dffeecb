// Which column of a table holds the lengths. Never a guess: the one asked for, or the only one with whole numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hsap {

/// A column of the first record.
struct Column {
  std::string name;
  bool whole_number = false;  ///< its value in the first record is one
};

/// Position in `columns` of the one called `wanted`, or without `wanted` of the only one that holds whole numbers.
/// Throws InvalidInput (at `line` of `source`) listing the columns that would work.
std::size_t length_column(const std::vector<Column>& columns, const std::optional<std::string>& wanted,
                          const std::string& source, std::size_t line);

}  // namespace hsap
