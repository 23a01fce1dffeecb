#include "planner/inputs/lengths/length_numbers.hpp"

#include <charconv>
#include <utility>

#include "planner/inputs/input_text.hpp"

namespace hsap {

std::optional<Token> whole_number(std::string_view text) {
  Token number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<Token> document_length(std::string_view text) {
  const std::optional<Token> number = whole_number(text);
  return number && *number >= 0 && *number <= kLongestDocument ? number : std::nullopt;
}

InvalidInput not_a_length(const std::string& source, std::size_t line, const std::string& place, const std::string& found) {
  const bool separated = found.find(',') != std::string::npos;
  return InvalidInput(source, line,
                      place + "found " + found + ", expected a document length: a whole number of tokens from 0 to 2^40" +
                          (separated ? ", without thousands separators (and a table needs a header line)" : ""));
}

LengthSource LengthCollector::finish(const std::string& source) {
  if (lengths_.empty()) throw InvalidInput(source, 0, "no document has tokens: all " + std::to_string(empty_) + " are empty");
  LengthSource result;
  result.name = source;
  result.lengths = std::move(lengths_);
  if (empty_ > 0) result.remarks.push_back(std::to_string(empty_) + " empty document" + (empty_ == 1 ? "" : "s") + " ignored");
  return result;
}

}  // namespace hsap
