#include "planner/inputs/cluster/yaml_section.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"

namespace hsap {
namespace {

bool contains(const YamlSection::Keys& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::size_t line_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1; }

std::string what_is_found(const YAML::Node& node) {
  if (node.IsNull()) return "found nothing";
  if (node.IsMap()) return "found a map";
  if (node.IsSequence()) return "found a list";
  constexpr std::size_t kLongest = 60;
  std::string text = node.Scalar();
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return "found \"" + text + "\"";
}

std::string joined(const YamlSection::Keys& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

YamlSection::YamlSection(const std::string& source, const YAML::Node& map, std::string path, const Keys& required,
                         const Keys& optional)
    : source_(source), path_(std::move(path)) {
  const std::string here = path_.empty() ? "" : path_.substr(0, path_.size() - 1) + ": ";
  const std::string expected =
      "expected the keys " + joined(required) + (optional.empty() ? "" : "; optional: " + joined(optional));
  if (!map.IsMap()) throw InvalidInput(source_, line_of(map.Mark()), here + what_is_found(map) + ", " + expected);
  for (const auto& entry : map) {
    const std::size_t line = line_of(entry.first.Mark());
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!contains(required, key) && !contains(optional, key)) {
      throw InvalidInput(source_, line, here + "unknown key, " + what_is_found(entry.first) + ", " + expected);
    }
    if (!entries_.emplace(key, Entry{entry.first, entry.second}).second)
      throw InvalidInput(source_, line, path_ + key + ": this key is given twice");
  }
  for (const std::string& key : required) {
    if (!has(key)) throw InvalidInput(source_, line_of(map.Mark()), path_ + key + ": this key is missing; " + expected);
  }
}

YamlSection YamlSection::section(const std::string& key, const Keys& required, const Keys& optional) const {
  return {source_, at(key), path_ + key + ".", required, optional};
}

void YamlSection::refuse(const std::string& key, const std::string& message) const {
  const Entry& entry = entries_.at(key);
  refuse(entry.value.IsNull() ? entry.key : entry.value, key, message);  // yaml-cpp puts a missing value on the line after it
}

void YamlSection::refuse(const YAML::Node& node, const std::string& key, const std::string& message) const {
  throw InvalidInput(source_, line_of(node.Mark()), path_ + key + ": " + message);
}

std::string YamlSection::text(const std::string& key) const {
  const YAML::Node& node = at(key);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (!node.IsScalar() || node.Scalar().empty() || std::any_of(node.Scalar().begin(), node.Scalar().end(), is_control)) {
    refuse(key, what_is_found(node) + ", expected one line of text");
  }
  return node.Scalar();
}

std::size_t YamlSection::count(const std::string& key, std::size_t most) const {
  const auto value = number_in<std::size_t>(at(key));
  if (!value || *value < 1 || *value > most) {
    refuse(key, what_is_found(at(key)) + ", expected a whole number from 1 to " + format_count(static_cast<long long>(most)));
  }
  return *value;
}

double YamlSection::number(const std::string& key, double least, double most, const std::string& expected) const {
  const auto value = number_in<double>(at(key));
  if (!value || !(*value >= least && *value <= most)) refuse(key, what_is_found(at(key)) + ", expected " + expected);
  return *value;
}

double YamlSection::quantity(const std::string& key, double (*parse)(std::string_view), const char* least,
                             const char* most) const {
  const YAML::Node& node = at(key);
  const std::string expected = std::string("expected from ") + least + " to " + most;
  if (!node.IsScalar()) refuse(key, what_is_found(node) + ", " + expected);
  double value = 0;
  try {
    value = parse(node.Scalar());
  } catch (const InvalidInput& error) {
    refuse(key, error.what());
  }
  if (value < parse(least) || value > parse(most)) refuse(key, what_is_found(node) + ", " + expected);
  return value;
}

}  // namespace hsap
