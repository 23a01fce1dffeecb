// What the tools know of the terminal they may be talking to.
#pragma once

#include <string>

namespace hsap {

/// True when standard output is a terminal and the environment does not say NO_COLOR (no-color.org: set and not empty).
bool may_use_colour();
/// True when standard error is a terminal.
bool stderr_is_terminal();

/// The text in bold, when colour may be used.
std::string bold(const std::string& text);

/// `text` broken at blanks so that no line is longer than `width`; lines after the first begin with `indent` blanks.
/// A word longer than a line stays whole.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

/// Longest line that reports print.
inline constexpr std::size_t kLineWidth = 120;

/// `label` in a column of `label_width`, `text` wrapped to kLineWidth in a column of its own beside it.
std::string labelled(const std::string& label, std::size_t label_width, const std::string& text);

}  // namespace hsap
