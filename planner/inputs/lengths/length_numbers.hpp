// Document lengths as numbers: which text is one, and how they are collected.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/inputs/document_lengths.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/ids.hpp"

namespace hsap {

/// Longest document that is believed, 2^40 tokens: what is longer is a byte count, a time or a sentinel.
inline constexpr Token kLongestDocument = Token{1} << 40;

/// The number that `text` spells in decimal digits, with a minus sign at most; nullopt for anything else or what overflows.
std::optional<Token> whole_number(std::string_view text);

/// The document length that `text` spells; nullopt unless it is a whole number from 0 (an empty document) to kLongestDocument.
std::optional<Token> document_length(std::string_view text);

/// The error for what is no document length. `found` as it shall be printed; `place` inside the line, such as "column x: ".
InvalidInput not_a_length(const std::string& source, std::size_t line, const std::string& place, const std::string& found);

/// Lengths in arrival order. Empty documents are counted and left out.
class LengthCollector {
 public:
  void add(Token length) {
    if (length > 0)
      lengths_.push_back(length);
    else
      ++empty_;
  }
  /// Moves the lengths, and a remark if documents were empty, into a LengthSource. Throws InvalidInput when none has tokens.
  LengthSource finish(const std::string& source);

 private:
  std::vector<Token> lengths_;
  std::size_t empty_ = 0;
};

}  // namespace hsap
