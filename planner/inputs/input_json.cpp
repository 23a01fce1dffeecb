#include "planner/inputs/input_json.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Puts quotes around Infinity, -Infinity and NaN outside of strings.
std::string with_quoted_constants(std::string_view text) {
  constexpr std::array<std::string_view, 3> kConstants = {"-Infinity", "Infinity", "NaN"};
  std::string result;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      result += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      const auto constant =
          std::find_if(kConstants.begin(), kConstants.end(), [&](std::string_view c) { return text.substr(i).starts_with(c); });
      if (constant != kConstants.end()) {
        result += "\"" + std::string(*constant) + "\"";
        i += constant->size() - 1;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

/// The part of the parser's message that says what was wrong: after "... at line 1, column 2: ".
std::string reason_of(const nlohmann::json::exception& error) {
  const std::string message = error.what();
  const std::size_t column = message.find("column ");
  const std::size_t begin =
      column != std::string::npos ? column : message.find("] ") + 2;  // "[json.exception.NAME.NUMBER] ..."
  const bool cut = message.find("unexpected end of input") != std::string::npos;
  return message.substr(begin) + (cut ? "; is the file complete?" : "");
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& source, std::size_t first_line) {
  const bool has_constants = text.find("Infinity") != std::string_view::npos || text.find("NaN") != std::string_view::npos;
  const std::string quoted = has_constants ? with_quoted_constants(text) : std::string();
  const std::string_view json_text = has_constants ? std::string_view(quoted) : text;
  try {
    return nlohmann::json::parse(json_text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = json_text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const auto line = first_line + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    throw InvalidInput(source, line, "not valid JSON: " + reason_of(error));
  } catch (const nlohmann::json::exception& error) {  // a number that no double can hold
    throw InvalidInput(source, 0, "not valid JSON: " + reason_of(error));
  }
}

std::string shown(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  if (value.is_string()) return shown(std::string_view(value.get_ref<const std::string&>()));
  return value.dump();
}

}  // namespace hsap
