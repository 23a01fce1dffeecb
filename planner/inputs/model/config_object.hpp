// A JSON object of a config.json, read key by key, so that every message names file and key.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "planner/ir/errors.hpp"

namespace hsap {

class ConfigObject {
 public:
  /// `path` = where the object lies, such as "text_config" or "block_configs[3].attention"; empty for the whole file.
  ConfigObject(const nlohmann::json& object, std::string file, std::string path = "");

  /// A number under one of several names that mean the same.
  struct Number {
    std::string key;
    int value = 0;
  };

  const nlohmann::json& json() const { return *object_; }
  /// The key is there and says something: it is not null, false, 0, "" or empty.
  bool active(std::string_view key) const;
  bool has(std::string_view key) const;
  bool flag(std::string_view key) const { return active(key); }
  /// The text under `key`; empty when absent or no text.
  std::string text(std::string_view key) const;

  /// A whole number from 1. Throws InvalidInput when it is missing, null or anything else.
  int number(std::string_view key) const;
  /// nullopt when absent or null.
  std::optional<int> optional_number(std::string_view key) const;
  /// The one of `keys` that is there. Throws InvalidInput when it is null or when two of them differ; nullopt when none is
  /// there.
  std::optional<Number> number_called(std::initializer_list<std::string_view> keys) const;
  /// As above, but one must be there.
  Number required_number(std::initializer_list<std::string_view> keys) const;
  /// Array under `key` with one entry per layer. Throws InvalidInput for another length or type.
  const nlohmann::json& array_per_layer(std::string_view key, int layers) const;

  /// The object under `key`. Throws InvalidInput when it is none.
  ConfigObject object(std::string_view key) const;

  /// "text_config.head_dim".
  std::string full_key(std::string_view key) const;
  /// An InvalidInput that names file and key: "FILE: KEY message".
  InvalidInput error(std::string_view key, const std::string& message) const;
  const std::string& file() const { return file_; }

 private:
  int checked_number(std::string_view key, const nlohmann::json& value) const;

  const nlohmann::json* object_;
  std::string file_;
  std::string path_;
};

}  // namespace hsap
