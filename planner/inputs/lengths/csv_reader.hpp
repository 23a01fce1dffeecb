// Comma-separated tables as RFC 4180 writes them: a quoted field may hold commas, doubled quotes and line breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hsap {

class CsvReader {
 public:
  /// `first_line` = number of the first line of `text` in its file. Both must outlive the reader.
  CsvReader(std::string_view text, const std::string& source, std::size_t first_line)
      : text_(text), source_(source), next_line_(first_line) {}

  /// Reads the next record that is not a blank line; false at the end. Unquoted fields come trimmed.
  /// Throws InvalidInput for a quote that is never closed or that is followed by more text.
  bool next(std::vector<std::string>& fields);

  /// Number of the line in which the last record began.
  std::size_t line() const { return line_; }

 private:
  void skip_blank_lines();
  std::string quoted_field();
  std::string plain_field();

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_;
};

}  // namespace hsap
