#include "planner/ir/json_fields.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// The value itself when it is short, else its type.
std::string found(const nlohmann::json& value) {
  constexpr std::size_t kShort = 40;
  if (value.is_structured()) return std::string("an ") + value.type_name();
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.size() <= kShort ? text : std::string("a long ") + value.type_name();
}

}  // namespace

void expect_keys(const nlohmann::json& object, const std::vector<const char*>& known) {
  if (!object.is_object()) throw JsonMistake{"", "found " + found(object) + ", expected an object"};
  for (const auto& item : object.items())
    if (std::none_of(known.begin(), known.end(), [&](const char* key) { return item.key() == key; })) {
      std::string keys;
      for (const char* key : known) keys += (keys.empty() ? "" : ", ") + std::string(key);
      throw JsonMistake{"." + item.key(), "is an unknown key, expected one of " + keys};
    }
}

std::int64_t read_integer(const nlohmann::json& value, std::int64_t least, std::int64_t most) {
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (fits) {
    const auto number = value.get<std::int64_t>();
    if (least <= number && number <= most) return number;
  }
  throw JsonMistake{
      "", "found " + found(value) + ", expected an integer from " + std::to_string(least) + " to " + std::to_string(most)};
}

double read_scale(const nlohmann::json& value) {
  if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
  throw JsonMistake{"", "found " + found(value) + ", expected a number of 0 or more"};
}

std::string read_text(const nlohmann::json& value) {
  if (!value.is_string()) throw JsonMistake{"", "found " + found(value) + ", expected a string"};
  return value.get<std::string>();
}

bool read_bool(const nlohmann::json& value) {
  if (!value.is_boolean()) throw JsonMistake{"", "found " + found(value) + ", expected true or false"};
  return value.get<bool>();
}

void expect_array(const nlohmann::json& value) {
  if (!value.is_array()) throw JsonMistake{"", "found " + found(value) + ", expected an array"};
}

void expect_array(const nlohmann::json& value, std::size_t size) {
  expect_array(value);
  if (value.size() != size)
    throw JsonMistake{"", "has " + std::to_string(value.size()) + " elements, expected " + std::to_string(size)};
}

}  // namespace hsap
