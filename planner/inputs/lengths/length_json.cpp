// Document lengths in JSON: arrays, objects with "lengths" or "cu_seqlens", and records (an array of objects or one object per
// line).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "planner/inputs/lengths/cu_seqlens.hpp"
#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_column.hpp"
#include "planner/inputs/lengths/length_formats.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

using nlohmann::json;

std::optional<Token> length_of(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  return document_length(value.dump());
}

void require_no_column(const LengthInput& input, const std::string& what) {
  if (input.options.column)
    throw InvalidInput(input.source, input.first_line,
                       "is " + what + " and has no column \"" + *input.options.column + "\"; leave the column out");
}

LengthSource parse_lengths(const json& values, const LengthInput& input) {
  if (!values.is_array())
    throw InvalidInput(input.source, input.first_line,
                       "\"lengths\" is " + shown(values) + ", expected an array of whole numbers");
  LengthCollector lengths;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::optional<Token> length = length_of(values[i]);
    if (!length) throw not_a_length(input.source, 0, "entry " + std::to_string(i) + ": ", shown(values[i]));
    lengths.add(*length);
  }
  return lengths.finish(input.source);
}

/// Reads one column of records that come one by one.
class RecordReader {
 public:
  explicit RecordReader(const LengthInput& input) : input_(input) {}

  /// `line` = 0 and `place` = "entry 3: " for an array of objects.
  void add(const json& record, std::size_t line, const std::string& place) {
    if (!record.is_object())
      throw InvalidInput(input_.source, line, place + "found " + shown(record) + ", expected an object like the ones before");
    if (record.contains("cu_seqlens"))
      throw InvalidInput(
          input_.source, line,
          place + "holds cu_seqlens, which are one whole batch; expected a file with a single object that holds them");
    if (column_.empty()) column_ = column_of(record, line);
    const auto value = record.find(column_);
    if (value == record.end()) throw InvalidInput(input_.source, line, place + "has no " + shown(std::string_view(column_)));
    const std::optional<Token> length = length_of(*value);
    if (!length) throw not_a_length(input_.source, line, place + "\"" + column_ + "\": ", shown(*value));
    lengths_.add(*length);
  }

  LengthSource finish() {
    LengthSource result = lengths_.finish(input_.source);
    result.remarks.push_back("lengths are the column " + shown(std::string_view(column_)));
    return result;
  }

 private:
  std::string column_of(const json& record, std::size_t line) const {
    std::vector<Column> columns;
    for (const auto& [key, value] : record.items()) columns.push_back({key, value.is_number_integer()});
    return columns[length_column(columns, input_.options.column, input_.source, line)].name;
  }

  const LengthInput& input_;
  std::string column_;
  LengthCollector lengths_;
};

LengthSource parse_array(const json& values, const LengthInput& input) {
  if (!values.empty() && values.front().is_object()) {
    RecordReader records(input);
    for (std::size_t i = 0; i < values.size(); ++i) records.add(values[i], 0, "entry " + std::to_string(i) + ": ");
    return records.finish();
  }
  require_no_column(input, "an array of numbers");
  if (values.empty()) throw InvalidInput(input.source, input.first_line, "is an empty array, expected document lengths");
  if (values.front() != 0) return parse_lengths(values, input);
  LengthSource result = parse_cu_seqlens(values, nullptr, input.source);
  result.remarks.push_back(
      "begins with 0 and never descends: read as cu_seqlens; write {\"lengths\": [...]} if these are lengths");
  return result;
}

LengthSource parse_object(const json& object, const LengthInput& input) {
  const auto lengths = object.find("lengths");
  const auto offsets = object.find("cu_seqlens");
  const auto padded = object.find("cu_seqlens_padded");
  if (lengths == object.end() && offsets == object.end()) {
    RecordReader records(input);
    records.add(object, input.first_line, "");
    return records.finish();
  }
  require_no_column(input, "an object with an array of numbers");
  if (lengths != object.end() && offsets != object.end())
    throw InvalidInput(input.source, input.first_line, "holds both \"lengths\" and \"cu_seqlens\"; leave one of them out");
  if (lengths != object.end() && padded != object.end())
    throw InvalidInput(input.source, input.first_line, "\"cu_seqlens_padded\" needs \"cu_seqlens\", found \"lengths\"");
  LengthSource result = lengths != object.end()
                            ? parse_lengths(*lengths, input)
                            : parse_cu_seqlens(*offsets, padded == object.end() ? nullptr : &*padded, input.source);
  std::vector<std::string> others;
  for (const auto& [key, value] : object.items())
    if (key != "lengths" && key != "cu_seqlens" && key != "cu_seqlens_padded") others.push_back(key);
  if (!others.empty()) result.remarks.push_back("not read: " + listed(others));
  return result;
}

LengthSource parse_json_lines(const LengthInput& input) {
  RecordReader records(input);
  LineReader lines(input.text, input.first_line);
  for (std::string_view line; lines.next(line);)
    if (!line.empty()) records.add(parse_json(line, input.source, lines.line()), lines.line(), "");
  return records.finish();
}

/// JSON lines: the first line is an object by itself and another one follows.
bool is_json_lines(const LengthInput& input) {
  LineReader lines(input.text);
  std::string_view line;
  lines.next(line);
  return line.starts_with('{') && json::accept(line) && !trimmed(lines.rest()).empty();
}

}  // namespace

LengthSource parse_length_json(const LengthInput& input) {
  if (is_json_lines(input)) return parse_json_lines(input);
  const json value = parse_json(input.text, input.source, input.first_line);
  return value.is_array() ? parse_array(value, input) : parse_object(value, input);
}

}  // namespace hsap
