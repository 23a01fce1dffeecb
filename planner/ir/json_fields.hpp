// Reading JSON strictly, with errors that say where: each reader checks one value, and on its way out a mistake collects the
// keys and indices that led to it. Costs nothing while all is well.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hsap {

/// Thrown by the readers below; whoever knows the file turns it into InvalidInput.
struct JsonMistake {
  std::string path;  ///< ".ranks[3].forward[7]"
  std::string message;
};

/// Throws JsonMistake when `object` is none or has a key that is not listed.
void expect_keys(const nlohmann::json& object, const std::vector<const char*>& known);
/// An integer in [least, most]. Throws JsonMistake.
std::int64_t read_integer(const nlohmann::json& value, std::int64_t least, std::int64_t most);
/// A number that is not negative (JSON has no infinity). Throws JsonMistake.
double read_scale(const nlohmann::json& value);
std::string read_text(const nlohmann::json& value);
bool read_bool(const nlohmann::json& value);
/// Throws JsonMistake when `value` is no array, or not of `size` elements.
void expect_array(const nlohmann::json& value);
void expect_array(const nlohmann::json& value, std::size_t size);

/// read(object[key]). Throws JsonMistake when the key is missing.
template <class Read>
auto read_field(const nlohmann::json& object, const char* key, Read&& read) {
  const auto found = object.find(key);
  if (found == object.end()) throw JsonMistake{std::string(".") + key, "is missing"};
  try {
    return read(*found);
  } catch (JsonMistake& mistake) {
    mistake.path = "." + std::string(key) + mistake.path;
    throw;
  }
}

/// read(array[index]).
template <class Read>
auto read_element(const nlohmann::json& array, std::size_t index, Read&& read) {
  try {
    return read(array[index]);
  } catch (JsonMistake& mistake) {
    mistake.path = "[" + std::to_string(index) + "]" + mistake.path;
    throw;
  }
}

/// read() of every element, as a List.
template <class List, class Read>
List read_list_as(const nlohmann::json& array, Read&& read) {
  expect_array(array);
  List list;
  list.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) list.push_back(read_element(array, i, read));
  return list;
}
template <class Read>
auto read_list(const nlohmann::json& array, Read&& read) {
  return read_list_as<std::vector<decltype(read(array))>>(array, read);
}

}  // namespace hsap
