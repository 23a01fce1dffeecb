// The clusters and length distributions that come with hsap, found from any folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hsap {

/// A folder of built-in files.
enum class DataKind {
  cluster,  ///< topologies/NAME.yaml
  lengths,  ///< traces/NAME.csv
};

/// Names of the built-in files, ascending: "dgx-h100". Throws InvalidInput when the data folder is not found, naming the
/// places.
std::vector<std::string> data_names(DataKind kind);

/// The file that an argument means: a built-in name first, else a path ("./dgx-h100" is always a path). Throws InvalidInput
/// listing the built-in names when it is neither.
std::filesystem::path data_file(DataKind kind, const std::string& name_or_path);

/// True when the argument is a built-in name.
bool is_data_name(DataKind kind, const std::string& name);

}  // namespace hsap
