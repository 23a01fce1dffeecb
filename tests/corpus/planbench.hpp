// The planning benchmark's files beside the repository (shared/planbench): length lists, bounds and what others achieved.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planner/ir/document_mask.hpp"

namespace hsap::test {

/// A file or folder of the benchmark. Ends the process as skipped (CTest: SKIP_RETURN_CODE 77) when this machine does not have
/// it.
inline std::filesystem::path planbench(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(HSAP_SHARED_DIR) / "planbench" / name;
  if (!std::filesystem::exists(path)) {
    std::cout << "skipped: " << path << " is not on this machine\n";
    std::exit(77);
  }
  return path;
}

/// The length lists by name.
inline std::map<std::string, std::filesystem::path> planbench_inputs() {
  std::map<std::string, std::filesystem::path> lists;
  for (const auto& entry : std::filesystem::directory_iterator(planbench("inputs")))
    if (entry.path().stem() != "index") lists[entry.path().stem()] = entry.path();
  return lists;
}

inline std::vector<Token> read_lengths(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream).at("doc_lens").get<std::vector<Token>>();
}

inline DocumentMask mask_of_lengths(const std::vector<Token>& lengths) {
  std::vector<Token> offsets{0};
  for (const Token length : lengths) offsets.push_back(offsets.back() + length);
  return DocumentMask(std::move(offsets));
}

}  // namespace hsap::test
