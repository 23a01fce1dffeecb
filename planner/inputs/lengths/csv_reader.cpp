#include "planner/inputs/lengths/csv_reader.hpp"

#include <algorithm>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

bool CsvReader::next(std::vector<std::string>& fields) {
  skip_blank_lines();
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  fields.clear();
  while (true) {
    fields.push_back(text_.substr(at_).starts_with('"') ? quoted_field() : plain_field());
    if (at_ >= text_.size()) return true;
    if (text_[at_++] == '\n') {
      ++next_line_;
      return true;
    }
  }
}

void CsvReader::skip_blank_lines() {
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    if (!trimmed(text_.substr(at_, end - at_)).empty()) return;
    at_ = std::min(end + 1, text_.size());
    ++next_line_;
  }
}

std::string CsvReader::quoted_field() {
  const std::size_t opened_in = next_line_;
  std::string field;
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') {
      if (!text_.substr(at_ + 1).starts_with('"')) break;
      ++at_;
    }
    if (text_[at_] == '\n') ++next_line_;
    field += text_[at_];
  }
  if (at_ >= text_.size()) throw InvalidInput(source_, opened_in, "a quoted field is never closed");
  ++at_;
  const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
  const std::string_view behind = trimmed(text_.substr(at_, end - at_));
  if (!behind.empty())
    throw InvalidInput(source_, next_line_,
                       "found " + shown(behind) + " behind a quoted field, expected a comma or the line's end");
  at_ = end;
  return field;
}

std::string CsvReader::plain_field() {
  const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
  const std::string_view field = trimmed(text_.substr(at_, end - at_));
  at_ = end;
  return std::string(field);
}

}  // namespace hsap
