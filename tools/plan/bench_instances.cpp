#include "tools/plan/bench_instances.hpp"

#include <nlohmann/json.hpp>

#include "planner/inputs/input_json.hpp"
#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

namespace fs = std::filesystem;

constexpr Token kLeastTokensPerRank = 2'048;
constexpr Token kMostTokensPerRank = 131'072;

nlohmann::json read_json(const fs::path& file) { return parse_json(read_input_text(file), file.string()); }

std::vector<std::string> read_names(const fs::path& file) {
  const nlohmann::json index = read_json(file);
  if (!index.is_array() || index.empty())
    throw InvalidInput(file.string(), 0, "is " + shown(index) + ", expected an array of objects like {\"id\": \"NAME\"}");
  std::vector<std::string> names;
  for (const nlohmann::json& entry : index) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string())
      throw InvalidInput(
          file.string(), 0,
          "entry " + std::to_string(names.size()) + " is " + shown(entry) + ", expected an object like {\"id\": \"NAME\"}");
    names.push_back(entry["id"]);
  }
  return names;
}

DocumentMask read_mask(const fs::path& file) {
  const nlohmann::json list = read_json(file);
  if (!list.is_object() || !list.contains("doc_lens") || !list["doc_lens"].is_array() || list["doc_lens"].empty())
    throw InvalidInput(file.string(), 0, "has no array \"doc_lens\", expected one with the length of each document");
  std::vector<Token> offsets{0};
  for (const nlohmann::json& value : list["doc_lens"]) {
    const std::string place = "\"doc_lens\", entry " + std::to_string(offsets.size() - 1) + ": ";
    const std::optional<Token> length = value.is_number_integer() ? document_length(value.dump()) : std::nullopt;
    if (!length) throw not_a_length(file.string(), 0, place, shown(value));
    if (*length == 0) throw InvalidInput(file.string(), 0, place + "found 0, expected at least 1 token");
    offsets.push_back(offsets.back() + *length);
  }
  return DocumentMask(std::move(offsets));
}

}  // namespace

std::vector<BenchInstance> read_bench_instances(const fs::path& folder, const std::string& filter) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw InvalidInput(folder.string(), 0,
                       "no such folder; expected one that holds index.json and a file of document lengths for each of its ids");
  const std::vector<std::string> names = read_names(folder / "index.json");
  std::vector<BenchInstance> instances;
  for (const std::string& name : names)
    if (name.find(filter) != std::string::npos) instances.push_back({name, read_mask(folder / (name + ".json"))});
  if (instances.empty())
    throw InvalidInput("--instances " + filter + ": no id in " + (folder / "index.json").string() +
                       " contains it; the first is " + names.front());
  return instances;
}

bool is_benched(const BenchInstance& instance, int ranks) {
  const Token tokens = instance.mask.tokens();
  return tokens / ranks >= kLeastTokensPerRank && tokens <= kMostTokensPerRank * ranks;
}

}  // namespace hsap
