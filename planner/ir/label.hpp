// Short texts for people, such as the names of buffers: a schedule has very many of them, nearly all are literals, and few
// differ.
#pragma once

#include <string>
#include <string_view>

namespace hsap {

/// A text that costs nothing to copy.
class Label {
 public:
  constexpr Label() = default;
  /// Not copied: a literal, or another text that stays until the process ends.
  constexpr Label(const char* literal) : text_(literal) {}
  /// Copied and kept until the process ends; equal texts are kept once. May be called by several threads.
  Label(const std::string& text);

  std::string text() const { return std::string(text_); }
  bool operator==(const Label&) const = default;

 private:
  std::string_view text_;
};

}  // namespace hsap
