// Text that a person gives us: read whole, checked to be text at all, and shown in messages on one line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hsap {

/// The whole content of `file`. Throws InvalidInput when it is missing, a directory or unreadable.
std::string read_input_text(const std::filesystem::path& file);

/// Throws InvalidInput when `text` cannot be what was meant: empty, binary, or a Git LFS pointer that stands for the real file.
void require_text(std::string_view text, const std::string& source);

/// A piece of input for a message: in quotes, on one line, at most 40 characters of it.
std::string shown(std::string_view text);

/// `text` without blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// {"a", "b"} -> "a, b".
std::string listed(const std::vector<std::string>& names);

/// Walks over the lines of a text; "\n" and "\r\n" both end a line.
class LineReader {
 public:
  /// `first_line` = number of the first line of `text` in its file.
  explicit LineReader(std::string_view text, std::size_t first_line = 1) : text_(text), line_(first_line - 1) {}
  /// Moves to the next line and hands out its trimmed content; false at the end.
  bool next(std::string_view& content);
  /// Number of the line that next() handed out last.
  std::size_t line() const { return line_; }
  /// What follows that line.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_;
};

}  // namespace hsap
