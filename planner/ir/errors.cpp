#include "planner/ir/errors.hpp"

namespace hsap {

InvalidInput::InvalidInput(const std::string& file, std::size_t line, const std::string& message)
    : std::runtime_error(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + message) {}

NotBuilt::NotBuilt(const std::string& feature, const std::string& cmake_option)
    : std::runtime_error(feature + " is not in this build; configure with -D" + cmake_option + "=ON and build again") {}

BackendFailure::BackendFailure(const std::string& call, const std::string& reason, std::source_location where)
    : std::runtime_error(call + ": " + reason + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")") {}

}  // namespace hsap
