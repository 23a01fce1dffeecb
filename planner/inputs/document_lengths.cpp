#include "planner/inputs/document_lengths.hpp"

#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/length_formats.hpp"
#include "planner/inputs/lengths/length_numbers.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Skips a byte-order mark, then blank lines and lines that begin with # at the top.
LengthInput without_leading_comments(std::string_view text, const std::string& source, const LengthReadOptions& options) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  LineReader lines(text);
  std::string_view from_here = text;
  for (std::string_view line; lines.next(line); from_here = lines.rest())
    if (!line.empty() && line.front() != '#') return {from_here, lines.line(), source, options};
  throw InvalidInput(source, 0, "holds nothing but comments");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

LengthSource parse_by_content(const LengthInput& input) {
  std::string_view first_line;
  LineReader(input.text).next(first_line);
  if (first_line.front() == '[' || first_line.front() == '{') return parse_length_json(input);
  const bool signed_number =
      std::string_view("+-.").find(first_line.front()) != std::string_view::npos && first_line.size() > 1;
  if (is_digit(signed_number ? first_line[1] : first_line[0])) return parse_length_lines(input);
  return has_markdown_table(input.text) ? parse_markdown_histogram(input) : parse_length_csv(input);
}

}  // namespace

LengthSource parse_document_lengths(const std::string& text, const std::string& source, const LengthReadOptions& options) {
  require_text(text, source);
  return parse_by_content(without_leading_comments(text, source, options));
}

LengthSource read_document_lengths(const std::filesystem::path& file, const LengthReadOptions& options) {
  LengthSource result = parse_document_lengths(read_input_text(file), file.string(), options);
  result.name = file.filename().string();
  if (result.histogram) result.histogram->name = file.stem().string();
  return result;
}

LengthSource parse_length_lines(const LengthInput& input) {
  if (input.options.column)
    throw InvalidInput(input.source, input.first_line,
                       "holds a number per line and has no column \"" + *input.options.column + "\"; leave the column out");
  LengthCollector lengths;
  LineReader lines(input.text, input.first_line);
  bool begins_with_zero = false;
  bool descends = false;
  Token previous = -1;
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) continue;
    const std::optional<Token> length = document_length(line);
    if (!length) throw not_a_length(input.source, lines.line(), "", shown(line));
    begins_with_zero = begins_with_zero || (previous < 0 && *length == 0);
    descends = descends || *length < previous;
    previous = *length;
    lengths.add(*length);
  }
  LengthSource result = lengths.finish(input.source);
  if (begins_with_zero && !descends)
    result.remarks.push_back("begins with 0 and never descends; if these are cu_seqlens, write {\"cu_seqlens\": [...]}");
  return result;
}

}  // namespace hsap
