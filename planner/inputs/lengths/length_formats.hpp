// The formats of length files, one function each. document_lengths.cpp finds out which one a file has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "planner/inputs/document_lengths.hpp"

namespace hsap {

/// A length file without its leading comments. Views and references point into the caller's data.
struct LengthInput {
  std::string_view text;
  std::size_t first_line = 1;  ///< number of the first line of `text` in its file
  const std::string& source;
  const LengthReadOptions& options;
};

// Each throws InvalidInput naming source, line, found and expected.

/// One whole number per line; blank lines are skipped.
LengthSource parse_length_lines(const LengthInput& input);
/// A table with a header line: a column of lengths, or a column of ranges with a column of weights (a histogram).
LengthSource parse_length_csv(const LengthInput& input);
/// A table as Markdown draws it, with a column of ranges and a column of weights.
LengthSource parse_markdown_histogram(const LengthInput& input);
/// True when `text` holds the line |---|---:| that every Markdown table has.
bool has_markdown_table(std::string_view text);
/// An array of lengths, an array of cu_seqlens (it begins with 0 and never descends), an object with "cu_seqlens" or "lengths",
/// an array of objects or one object per line, of which one column is the length.
LengthSource parse_length_json(const LengthInput& input);

}  // namespace hsap
