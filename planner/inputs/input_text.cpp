#include "planner/inputs/input_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

std::string read_input_text(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) throw InvalidInput(file.string(), 0, "no such file");
  if (std::filesystem::is_directory(file)) throw InvalidInput(file.string(), 0, "is a directory, expected a file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InvalidInput(file.string(), 0, std::string("cannot be opened: ") + std::strerror(errno));
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

void require_text(std::string_view text, const std::string& source) {
  if (trimmed(text).empty()) throw InvalidInput(source, 0, "is empty");
  if (text.starts_with("version https://git-lfs.github.com/spec/"))
    throw InvalidInput(source, 1, "this is a Git LFS pointer, not the file itself; run \"git lfs pull\" in its repository");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw InvalidInput(source, 0, "is not UTF-8 text (byte " + std::to_string(zero) + " is 0); convert or unpack it first");
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMostCharacters = 40;
  std::size_t end = std::min(kMostCharacters, text.size());
  while (end > 0 && end < text.size() && (text[end] & 0xC0) == 0x80) --end;  // never cut a UTF-8 character
  std::string result = "\"";
  for (const char c : text.substr(0, end)) result += (static_cast<unsigned char>(c) < ' ' || c == '\x7f') ? '?' : c;
  return result + (end < text.size() ? "...\"" : "\"");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string listed(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

bool LineReader::next(std::string_view& content) {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  content = trimmed(text_.substr(at_, end - at_));
  at_ = std::min(end + 1, text_.size());
  ++line_;
  return true;
}

}  // namespace hsap
