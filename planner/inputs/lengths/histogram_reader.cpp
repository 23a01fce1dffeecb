#include "planner/inputs/lengths/histogram_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_formats.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

std::string lowercase(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <std::size_t N>
bool is_one_of(const std::string& name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<std::size_t> find_column(const std::vector<std::string>& header, std::string_view name) {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (lowercase(header[i]) == name) return i;
  return std::nullopt;
}

std::size_t weight_column(const std::vector<std::string>& header, const std::optional<std::string>& wanted,
                          const std::string& source, std::size_t line) {
  constexpr std::array<std::string_view, 5> kNames = {"count", "number", "weight", "documents", "frequency"};
  for (std::size_t i = 0; i < header.size(); ++i)
    if (wanted ? header[i] == *wanted : is_one_of(lowercase(header[i]), kNames)) return i;
  if (wanted) throw InvalidInput(source, line, "has no column " + shown(*wanted) + "; the columns are: " + listed(header));
  throw InvalidInput(source, line,
                     "is a histogram without a column called count, number, weight, documents or frequency; name the column "
                     "of weights: " +
                         listed(header));
}

/// "16", "1,024", "2K": the number, with its scale 1, 1024 or 1024^2.
struct ScaledNumber {
  Token number = 0;
  Token scale = 1;
};

std::optional<ScaledNumber> scaled_number(std::string_view text) {
  text = trimmed(text);
  ScaledNumber result;
  if (!text.empty() && std::toupper(static_cast<unsigned char>(text.back())) == 'K') result.scale = 1024;
  if (!text.empty() && std::toupper(static_cast<unsigned char>(text.back())) == 'M') result.scale = 1024 * 1024;
  if (result.scale > 1) text.remove_suffix(1);
  const std::optional<Token> number = document_length(without_thousands_separators(text));
  if (!number) return std::nullopt;
  result.number = *number;
  return result;
}

/// Splits "101-200" and its like at the sign between the bounds; {"", ""} when there is none.
std::pair<std::string_view, std::string_view> split_bounds(std::string_view text, bool in_brackets) {
  constexpr std::array<std::string_view, 3> kSigns = {"\xE2\x80\x93", "..", "-"};  // the first is an en dash
  for (const std::string_view sign : kSigns)
    if (const std::size_t at = text.find(sign); at != std::string_view::npos)
      return {text.substr(0, at), text.substr(at + sign.size())};
  if (const std::size_t at = text.find(','); in_brackets && at != std::string_view::npos)
    return {text.substr(0, at), text.substr(at + 1)};
  return {};
}

double parse_weight(std::string_view text, const std::string& source, std::size_t line) {
  const std::string digits = without_thousands_separators(text);
  double weight = -1;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  if (error != std::errc() || stop != digits.data() + digits.size() || !std::isfinite(weight) || weight < 0)
    throw InvalidInput(source, line,
                       "found weight " + shown(text) + ", expected a number from 0, such as a count of documents");
  return weight;
}

}  // namespace

std::string without_thousands_separators(std::string_view text) {
  const std::size_t first_comma = text.find(',');
  bool grouped = first_comma != std::string_view::npos && first_comma >= 1 && first_comma <= 3;
  std::string digits;
  for (std::size_t i = 0; grouped && i < text.size(); ++i) {
    const bool comma_here = i >= first_comma && (i - first_comma) % 4 == 0;
    grouped = comma_here ? text[i] == ',' && i + 3 < text.size() : std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!comma_here) digits += text[i];
  }
  return grouped && (text.size() - first_comma) % 4 == 0 ? digits : std::string(text);
}

std::optional<LengthRange> parse_length_range(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2) return std::nullopt;
  if (text.front() == '<' || text.front() == '>' || text.back() == '+') {
    const bool below = text.front() == '<';
    const auto bound = scaled_number(text.back() == '+' ? text.substr(0, text.size() - 1) : text.substr(1));
    if (!bound) return std::nullopt;
    const Token value = bound->number * bound->scale;
    if (below) return value < 2 ? std::nullopt : std::optional(LengthRange{1, value - 1, bound->scale > 1});
    return LengthRange{text.front() == '>' ? value + 1 : value, std::nullopt, bound->scale > 1};
  }
  const bool in_brackets = text.front() == '[' && text.back() == ']';
  if (in_brackets) text = text.substr(1, text.size() - 2);
  const auto [left, right] = split_bounds(text, in_brackets);
  auto lower = scaled_number(left);
  const auto upper = scaled_number(right);
  if (!lower || !upper) return std::nullopt;
  if (lower->scale == 1) lower->scale = upper->scale;  // "1–2K" is 1K to 2K
  const LengthRange range{lower->number * lower->scale, upper->number * upper->scale, upper->scale > 1};
  return range.shortest <= *range.longest && *range.longest <= kLongestDocument ? std::optional(range) : std::nullopt;
}

std::optional<HistogramColumns> histogram_columns(const std::vector<std::string>& header, const std::vector<std::string>& first,
                                                  const std::optional<std::string>& wanted, const std::string& source,
                                                  std::size_t line) {
  const auto shortest = find_column(header, "shortest");
  const auto longest = find_column(header, "longest");
  if (shortest && longest) return HistogramColumns{*shortest, longest, weight_column(header, wanted, source, line)};
  constexpr std::array<std::string_view, 4> kNames = {"range", "bucket", "bin", "interval"};
  for (std::size_t i = 0; i < std::min(header.size(), first.size()); ++i)
    if (is_one_of(lowercase(header[i]), kNames) && parse_length_range(first[i]))
      return HistogramColumns{i, std::nullopt, weight_column(header, wanted, source, line)};
  return std::nullopt;
}

void HistogramReader::add(const std::vector<std::string>& row, std::size_t line) {
  const std::string& text = row[columns_.range];
  std::optional<LengthRange> range;
  if (columns_.longest) {
    const auto shortest = document_length(text);
    const auto longest = document_length(row[*columns_.longest]);
    if (shortest && longest && *shortest <= *longest) range = LengthRange{*shortest, *longest};
  } else {
    range = parse_length_range(text);
  }
  if (!range)
    throw InvalidInput(source_, line,
                       columns_.longest
                           ? "found shortest " + shown(text) + " and longest " + shown(row[*columns_.longest]) +
                                 ", expected whole numbers with shortest <= longest"
                           : "found range " + shown(text) + ", expected one such as [101, 200], 101-200, 1-2K or <1K");
  rows_.push_back({*range, parse_weight(row[columns_.weight], source_, line), line});
}

/// Neighbours that share a bound, such as 1-2K and 2-4K: a document of that length belongs to the upper one.
void HistogramReader::part_shared_bounds() {
  bool shared = false;
  for (std::size_t i = 0; i + 1 < rows_.size(); ++i) {
    if (rows_[i].range.longest != rows_[i + 1].range.shortest || columns_.longest) continue;
    --*rows_[i].range.longest;
    shared = true;
  }
  if (shared) remarks_.push_back("neighbouring ranges share a bound: that length is read as part of the upper range");
}

LengthSource HistogramReader::finish() {
  part_shared_bounds();
  LengthSource result;
  result.name = source_;
  result.histogram = LengthHistogram{source_, {}};
  bool any_suffix = false;
  Token longest_before = 0;
  for (const Row& row : rows_) {
    any_suffix = any_suffix || row.range.thousand_suffix;
    if (row.weight <= 0) continue;
    if (!row.range.longest)
      throw InvalidInput(source_, row.line,
                         "the open range above " + std::to_string(row.range.shortest - 1) +
                             " holds documents but has no longest length; " + "give both bounds, such as [" +
                             std::to_string(row.range.shortest) + ", LONGEST]");
    if (*row.range.longest == 0) {
      remarks_.push_back("the range of empty documents is ignored");
      continue;
    }
    const Token shortest = std::max<Token>(row.range.shortest, 1);
    if (shortest > *row.range.longest || shortest <= longest_before)
      throw InvalidInput(source_, row.line,
                         "found the range " + std::to_string(row.range.shortest) + " to " + std::to_string(*row.range.longest) +
                             " after lengths up to " + std::to_string(longest_before) +
                             ", expected ranges that ascend and do not overlap");
    longest_before = *row.range.longest;
    if (row.range.shortest == 0)
      remarks_.push_back("the range from 0 to " + std::to_string(*row.range.longest) +
                         " is read as from 1: empty documents need no attention");
    result.histogram->buckets.push_back({shortest, *row.range.longest, row.weight});
  }
  if (result.histogram->buckets.empty()) throw InvalidInput(source_, 0, "is a histogram in which no range has documents");
  if (any_suffix) remarks_.push_back("K is read as 1,024 tokens");
  result.remarks = std::move(remarks_);
  return result;
}

}  // namespace hsap
