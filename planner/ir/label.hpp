// Short texts for people, such as the names of buffers: a schedule has very many of them, and nearly all are literals.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace hsap {

/// A text whose copies share its characters.
class Label {
 public:
  Label() = default;
  /// Not copied: a literal.
  Label(const char* literal) : literal_(literal) {}
  Label(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}

  std::string text() const { return std::string(view()); }
  bool operator==(const Label& other) const { return view() == other.view(); }

 private:
  std::string_view view() const { return text_ ? std::string_view(*text_) : literal_; }

  const char* literal_ = "";
  std::shared_ptr<const std::string> text_;  ///< in place of the literal, if there is one
};

}  // namespace hsap
