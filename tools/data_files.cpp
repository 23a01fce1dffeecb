// Places, in this order: $HSAP_DATA_DIR; ../share/hsap from the binary (installed); the source tree that hsap was built from.
#include "tools/data_files.hpp"

#include <algorithm>
#include <cstdlib>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace fs = std::filesystem;

namespace {

struct Folder {
  const char* name;
  const char* extension;
  const char* what;
};

Folder folder_of(DataKind kind) {
  return kind == DataKind::cluster ? Folder{"topologies", ".yaml", "cluster"} : Folder{"traces", ".csv", "length distribution"};
}

bool holds_data(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "topologies", error) && fs::is_directory(folder / "traces", error);
}

fs::path data_root() {
  if (const char* chosen = std::getenv("HSAP_DATA_DIR"); chosen != nullptr && *chosen != '\0') {
    if (holds_data(chosen)) return chosen;
    throw InvalidInput("HSAP_DATA_DIR=" + std::string(chosen) +
                       " holds no folders topologies and traces; correct it or unset it");
  }
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = (binary.parent_path() / HSAP_DATA_FROM_BINARY).lexically_normal();
  const fs::path source = HSAP_SOURCE_DATA;
  for (const fs::path& place : {installed, source})
    if (holds_data(place)) return place;
  throw InvalidInput("built-in clusters and distributions: found neither in " + installed.string() + " nor in " +
                     source.string() + "; set HSAP_DATA_DIR to the folder that holds topologies and traces");
}

}  // namespace

std::vector<std::string> data_names(DataKind kind) {
  const Folder folder = folder_of(kind);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_root() / folder.name))
    if (entry.path().extension() == folder.extension) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_data_name(DataKind kind, const std::string& name) {
  const std::vector<std::string> names = data_names(kind);
  return std::find(names.begin(), names.end(), name) != names.end();
}

fs::path data_file(DataKind kind, const std::string& name_or_path) {
  const Folder folder = folder_of(kind);
  const bool is_path = name_or_path.find('/') != std::string::npos;
  if (!is_path && is_data_name(kind, name_or_path)) return data_root() / folder.name / (name_or_path + folder.extension);
  std::error_code error;
  if (fs::exists(name_or_path, error)) return name_or_path;
  throw InvalidInput(std::string(folder.what) + " " + shown(name_or_path) +
                     ": no such file, and none of the built-in ones: " + listed(data_names(kind)));
}

}  // namespace hsap
