#include "planner/inputs/model/config_object.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"

namespace hsap {

namespace {
constexpr std::uint64_t kLargestNumber = 1'000'000'000;  // far above any head count, width or window
}

ConfigObject::ConfigObject(const nlohmann::json& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {}

bool ConfigObject::active(std::string_view key) const {
  const auto value = object_->find(key);
  if (value == object_->end() || value->is_null() || *value == false || *value == 0) return false;
  return !(value->is_string() || value->is_structured()) || (!value->empty() && *value != "");
}

bool ConfigObject::has(std::string_view key) const { return object_->contains(key); }

std::string ConfigObject::text(std::string_view key) const {
  const auto value = object_->find(key);
  return value != object_->end() && value->is_string() ? value->get<std::string>() : std::string();
}

int ConfigObject::number(std::string_view key) const {
  const auto value = object_->find(key);
  if (value == object_->end()) throw error(key, "is missing, expected a whole number");
  return checked_number(key, *value);
}

std::optional<int> ConfigObject::optional_number(std::string_view key) const {
  const auto value = object_->find(key);
  if (value == object_->end() || value->is_null()) return std::nullopt;
  return checked_number(key, *value);
}

std::optional<ConfigObject::Number> ConfigObject::number_called(std::initializer_list<std::string_view> keys) const {
  std::optional<Number> found;
  for (const std::string_view key : keys) {
    if (!has(key)) continue;
    const Number number{std::string(key), this->number(key)};
    if (found && found->value != number.value)
      throw error(key, "is " + std::to_string(number.value) + " but " + found->key + " is " + std::to_string(found->value) +
                           "; they mean the same, leave the wrong one out");
    if (!found) found = number;
  }
  return found;
}

ConfigObject::Number ConfigObject::required_number(std::initializer_list<std::string_view> keys) const {
  if (const auto found = number_called(keys)) return *found;
  const std::vector<std::string> names(keys.begin(), keys.end());
  throw error(names.front(), "is missing, expected a whole number (also known as: " +
                                 listed(std::vector<std::string>(names.begin() + 1, names.end())) + ")");
}

const nlohmann::json& ConfigObject::array_per_layer(std::string_view key, int layers) const {
  const nlohmann::json& value = object_->at(std::string(key));
  if (!value.is_array()) throw error(key, "is " + shown(value) + ", expected an array with one entry per layer");
  if (value.size() != static_cast<std::size_t>(layers))
    throw error(key, "has " + std::to_string(value.size()) + " entries for " + std::to_string(layers) +
                         " layers; expected one per layer");
  return value;
}

ConfigObject ConfigObject::object(std::string_view key) const {
  const auto value = object_->find(key);
  if (value == object_->end() || !value->is_object())
    throw error(key,
                value == object_->end() ? "is missing, expected an object" : "is " + shown(*value) + ", expected an object");
  return ConfigObject(*value, file_, full_key(key));
}

std::string ConfigObject::full_key(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

InvalidInput ConfigObject::error(std::string_view key, const std::string& message) const {
  return InvalidInput(file_, 0, full_key(key) + " " + message);
}

int ConfigObject::checked_number(std::string_view key, const nlohmann::json& value) const {
  const bool fits = value.is_number_unsigned() && value >= 1 && value.get<std::uint64_t>() <= kLargestNumber;
  if (!fits) throw error(key, "is " + shown(value) + ", expected a whole number from 1");
  return value.get<int>();
}

}  // namespace hsap
