#include "planner/inputs/lengths/length_column.hpp"

#include <algorithm>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

std::size_t length_column(const std::vector<Column>& columns, const std::optional<std::string>& wanted,
                          const std::string& source, std::size_t line) {
  std::vector<std::string> names;
  std::vector<std::string> names_with_numbers;
  for (const Column& column : columns) {
    names.push_back(column.name);
    if (column.whole_number) names_with_numbers.push_back(column.name);
  }
  if (!wanted && names_with_numbers.empty())
    throw InvalidInput(source, line,
                       "found " + shown(listed(names)) +
                           ", expected a whole number per line, a JSON array, cu_seqlens, JSON lines, a "
                           "histogram or a CSV table with a header and a column of lengths");
  if (!wanted && names_with_numbers.size() > 1)
    throw InvalidInput(source, line,
                       "several columns hold whole numbers; choose one with --column: " + listed(names_with_numbers));
  const std::string& name = wanted ? *wanted : names_with_numbers.front();
  const auto is_it = [&](const Column& column) { return column.name == name; };
  const auto column = std::find_if(columns.begin(), columns.end(), is_it);
  if (column == columns.end())
    throw InvalidInput(source, line, "has no column " + shown(name) + "; the columns are: " + listed(names));
  if (std::count_if(columns.begin(), columns.end(), is_it) > 1)
    throw InvalidInput(source, line, "has several columns called " + shown(name) + "; rename all but one");
  return static_cast<std::size_t>(column - columns.begin());
}

}  // namespace hsap
