#include "tools/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace hsap {

bool may_use_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string bold(const std::string& text) { return may_use_colour() ? "\x1b[1m" + text + "\x1b[0m" : text; }

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string labelled(const std::string& label, std::size_t label_width, const std::string& text) {
  std::string result = label;
  result.resize(label_width, ' ');
  for (const char c : wrapped(text, kLineWidth - label_width, 0)) {
    result += c;
    if (c == '\n') result.append(label_width, ' ');
  }
  return result;
}

}  // namespace hsap
