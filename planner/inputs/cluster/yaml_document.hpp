// YAML text that must hold exactly one document. (YAML::LoadAll of yaml-cpp 0.7 loops for ever on text such as ",x", and
// YAML::Load silently ignores what follows the first document.)
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace hsap {

/// Throws YAML::Exception when `text` is no YAML or when something follows the first document.
YAML::Node load_yaml_document(const std::string& text);

}  // namespace hsap
