// Output files appear whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace hsap {

/// Throws InvalidInput unless `file` could be written: its folder exists, and it is no folder or device itself. Asked before
/// long work.
void require_writable(const std::filesystem::path& file);

/// Writes beside `file` under a temporary name and renames, so that nobody ever reads half a file and a failure leaves what was
/// there. Throws InvalidInput naming the file and the system's reason.
void write_whole_file(const std::filesystem::path& file, const std::string& text);

}  // namespace hsap
