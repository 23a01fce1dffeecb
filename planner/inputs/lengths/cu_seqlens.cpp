#include "planner/inputs/lengths/cu_seqlens.hpp"

#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

std::string entry(const std::string& key, std::size_t index) { return key + "[" + std::to_string(index) + "]"; }

std::vector<Token> offsets_of(const nlohmann::json& values, const std::string& key, const std::string& source) {
  if (!values.is_array() || values.empty())
    throw InvalidInput(source, 0,
                       key + " is " + (values.is_array() ? "empty" : shown(values)) + ", expected an array of offsets");
  std::vector<Token> offsets;
  for (const nlohmann::json& value : values) {
    const std::size_t index = offsets.size();
    const std::optional<Token> offset = value.is_number_integer() ? whole_number(value.dump()) : std::nullopt;
    if (!offset)
      throw InvalidInput(source, 0, entry(key, index) + " is " + shown(value) + ", expected an offset: a whole number");
    if (index == 0 && *offset != 0) throw InvalidInput(source, 0, entry(key, 0) + " is " + shown(value) + ", expected 0");
    if (index > 0 && *offset < offsets.back())
      throw InvalidInput(source, 0,
                         entry(key, index) + " is " + shown(value) + ", below " + entry(key, index - 1) + " = " +
                             std::to_string(offsets.back()) +
                             ": offsets never descend; leave sentinels and what is no offset out" +
                             (key == "cu_seqlens" ? ", or write {\"lengths\": [...]} if these are lengths" : ""));
    if (index > 0 && *offset - offsets.back() > kLongestDocument)
      throw InvalidInput(source, 0,
                         entry(key, index) + " is " + shown(value) + ": its document would be longer than 2^40 tokens");
    offsets.push_back(*offset);
  }
  return offsets;
}

/// How many tokens of the padded batch are padding. Each padded document must have room for its real one.
Token padding_of(const std::vector<Token>& offsets, const std::vector<Token>& padded, const std::string& source) {
  if (padded.size() != offsets.size())
    throw InvalidInput(source, 0,
                       "cu_seqlens_padded has " + std::to_string(padded.size()) + " entries, cu_seqlens has " +
                           std::to_string(offsets.size()) + "; expected one padded offset for each offset");
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const Token real = offsets[i] - offsets[i - 1];
    const Token room = padded[i] - padded[i - 1];
    if (room < real)
      throw InvalidInput(source, 0,
                         entry("cu_seqlens_padded", i) + " is " + std::to_string(padded[i]) + ": document " +
                             std::to_string(i - 1) + " has " + std::to_string(real) + " tokens, its padded length is " +
                             std::to_string(room));
  }
  return padded.back() - offsets.back();
}

std::string percent(Token part, Token whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

}  // namespace

LengthSource parse_cu_seqlens(const nlohmann::json& offsets, const nlohmann::json* padded, const std::string& source) {
  const std::vector<Token> real = offsets_of(offsets, "cu_seqlens", source);
  LengthCollector lengths;
  for (std::size_t i = 1; i < real.size(); ++i) lengths.add(real[i] - real[i - 1]);
  LengthSource result = lengths.finish(source);
  result.fixed_batch = true;
  if (padded != nullptr) {
    const std::vector<Token> places = offsets_of(*padded, "cu_seqlens_padded", source);
    if (const Token padding = padding_of(real, places, source); padding > 0)
      result.remarks.push_back(std::to_string(padding) + " padding token" + (padding == 1 ? "" : "s") + " (" +
                               percent(padding, places.back()) + ") left out");
  }
  return result;
}

}  // namespace hsap
