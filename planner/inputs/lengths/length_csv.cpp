// Length tables in CSV: a column of lengths, or a histogram.
#include <algorithm>
#include <optional>
#include <vector>

#include "planner/inputs/lengths/csv_reader.hpp"
#include "planner/inputs/lengths/histogram_reader.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_column.hpp"
#include "planner/inputs/lengths/length_formats.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

using Record = std::vector<std::string>;

void require_width(const Record& record, const Record& header, const LengthInput& input, std::size_t line) {
  if (record.size() == header.size()) return;
  throw InvalidInput(input.source, line,
                     "found " + std::to_string(record.size()) + " fields, the header has " + std::to_string(header.size()) +
                         " (a number with thousands separators must be in quotes)");
}

LengthSource parse_column(CsvReader& reader, const Record& header, Record record, const LengthInput& input) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < header.size(); ++i)
    columns.push_back({header[i], whole_number(without_thousands_separators(record[i])).has_value()});
  const std::size_t column = length_column(columns, input.options.column, input.source, reader.line());
  LengthCollector lengths;
  do {
    require_width(record, header, input, reader.line());
    const std::optional<Token> length = document_length(without_thousands_separators(record[column]));
    if (!length) throw not_a_length(input.source, reader.line(), "column " + header[column] + ": ", shown(record[column]));
    lengths.add(*length);
  } while (reader.next(record));
  LengthSource result = lengths.finish(input.source);
  if (header.size() > 1) result.remarks.push_back("lengths are the column " + shown(header[column]));
  return result;
}

LengthSource parse_histogram(CsvReader& reader, const HistogramColumns& columns, const Record& header, Record record,
                             const LengthInput& input) {
  HistogramReader histogram(input.source, columns);
  do {
    require_width(record, header, input, reader.line());
    histogram.add(record, reader.line());
  } while (reader.next(record));
  return histogram.finish();
}

}  // namespace

LengthSource parse_length_csv(const LengthInput& input) {
  CsvReader reader(input.text, input.source, input.first_line);
  Record header;
  Record first;
  reader.next(header);
  const std::size_t header_line = reader.line();
  if (std::all_of(header.begin(), header.end(),
                  [](const std::string& f) { return whole_number(without_thousands_separators(f)); }))
    throw InvalidInput(input.source, header_line,
                       "found numbers in the first line, expected a header line that names the columns");
  if (!reader.next(first))
    throw InvalidInput(input.source, header_line,
                       "found " + shown(input.text) +
                           " and no records, expected document lengths: a whole number per line, or a header " +
                           "line and records");
  require_width(first, header, input, reader.line());
  if (const auto columns = histogram_columns(header, first, input.options.column, input.source, header_line))
    return parse_histogram(reader, *columns, header, std::move(first), input);
  return parse_column(reader, header, std::move(first), input);
}

}  // namespace hsap
