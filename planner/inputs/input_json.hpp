// JSON as files of the machine-learning world hold it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hsap {

/// Parses `text`. Infinity and NaN, which Python writes and JSON lacks, become strings of that name. Throws InvalidInput naming
/// source, line and column; `first_line` = number of the first line of `text` in its file.
nlohmann::json parse_json(std::string_view text, const std::string& source, std::size_t first_line = 1);

/// A value for a message: "null", "12.5", "an array", "an object", or the text itself; short and on one line.
std::string shown(const nlohmann::json& value);

}  // namespace hsap
