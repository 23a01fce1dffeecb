// Histograms in Markdown tables, as corpus cards publish them.
#include <algorithm>
#include <optional>
#include <vector>

#include "planner/inputs/lengths/histogram_reader.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_formats.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

bool is_separator(std::string_view line) {
  return line.starts_with('|') && line.find("--") != std::string_view::npos &&
         line.find_first_not_of("|-: ") == std::string_view::npos;
}

/// "| a | b |" -> {"a", "b"}.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('|'), line.size());
    cells.emplace_back(trimmed(line.substr(0, end)));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

}  // namespace

bool has_markdown_table(std::string_view text) {
  LineReader lines(text);
  for (std::string_view line; lines.next(line);)
    if (is_separator(line)) return true;
  return false;
}

LengthSource parse_markdown_histogram(const LengthInput& input) {
  std::vector<std::string> header;
  std::optional<HistogramReader> histogram;
  bool behind_separator = false;
  LineReader lines(input.text, input.first_line);
  for (std::string_view line; lines.next(line);) {
    if (!line.starts_with('|')) {
      if (histogram) break;
      behind_separator = false;
    } else if (is_separator(line)) {
      behind_separator = true;
    } else if (!behind_separator) {
      header = cells_of(line);
    } else {
      const std::vector<std::string> row = cells_of(line);
      if (!histogram) {
        const auto columns = histogram_columns(header, row, input.options.column, input.source, lines.line());
        if (!columns) continue;
        histogram.emplace(input.source, *columns);
      }
      if (row.size() != header.size())
        throw InvalidInput(
            input.source, lines.line(),
            "found " + std::to_string(row.size()) + " cells, the table's header has " + std::to_string(header.size()));
      histogram->add(row, lines.line());
    }
  }
  if (!histogram)
    throw InvalidInput(
        input.source, 0,
        "its tables hold no histogram; expected one with a column range, bucket, bin or interval and a column count");
  return histogram->finish();
}

}  // namespace hsap
