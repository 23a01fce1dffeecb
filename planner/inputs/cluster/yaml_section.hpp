// One map of a YAML file, read strictly: unknown, missing and repeated keys, wrong types and values out of bounds are
// InvalidInput with file, line, key, what was found and what was expected.
#pragma once

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hsap {

class YamlSection {
 public:
  using Keys = std::vector<std::string>;

  /// The top level of a file; `source` names it in messages. Throws InvalidInput unless `map` is a map with these keys only.
  YamlSection(const std::string& source, const YAML::Node& map, const Keys& required, const Keys& optional)
      : YamlSection(source, map, "", required, optional) {}
  /// The map under `key`.
  YamlSection section(const std::string& key, const Keys& required, const Keys& optional = {}) const;

  bool has(const std::string& key) const { return entries_.count(key) > 0; }
  const YAML::Node& at(const std::string& key) const { return entries_.at(key).value; }

  std::string text(const std::string& key) const;
  /// A whole number from 1 to `most`.
  std::size_t count(const std::string& key, std::size_t most) const;
  /// A bare number from `least` to `most`; `expected` says so in words.
  double number(const std::string& key, double least, double most, const std::string& expected) const;
  /// A number with a unit, read by `parse` of units.hpp, from `least` to `most` (texts of the same kind, at least `least` > 0).
  double quantity(const std::string& key, double (*parse)(std::string_view), const char* least, const char* most) const;

  /// Throws InvalidInput "FILE:LINE: PATH.KEY: message" with the line of the key's value, or of `node` within it.
  [[noreturn]] void refuse(const std::string& key, const std::string& message) const;
  [[noreturn]] void refuse(const YAML::Node& node, const std::string& key, const std::string& message) const;

 private:
  struct Entry {
    YAML::Node key, value;
  };

  YamlSection(const std::string& source, const YAML::Node& map, std::string path, const Keys& required, const Keys& optional);

  std::string source_;
  std::string path_;  // "" at the top, "island." and the like below
  std::map<std::string, Entry> entries_;
};

/// Line of a mark, counted from 1; 0 = unknown.
std::size_t line_of(const YAML::Mark& mark);
/// For messages: "found nothing", "found a map", "found a list", "found "text"" (in one line, cut when long).
std::string what_is_found(const YAML::Node& node);
std::string joined(const YamlSection::Keys& keys);

/// The whole of a scalar as a number, or nothing.
template <class Number>
std::optional<Number> number_in(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  const std::string& text = node.Scalar();
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace hsap
