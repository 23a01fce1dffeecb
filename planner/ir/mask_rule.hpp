// Which keys of its own document a query may see, said as intervals. Row i of a document of n tokens, counted from its start,
// sees the keys [first_key(i), end_key(i)) and, before them, the sinks [0, sink_end(i)):
//
//   first_key(i) = max(0, i - left), or the first token of i's block of `chunk` tokens; 0 without either
//   end_key(i)   = min(n, max(i + right + 1, prefix)); n when `right` is unlimited
//   sink_end(i)  = min(sinks, first_key(i))
//
// All three are non-decreasing in i, and first_key(i) <= i < end_key(i): every query sees itself, and what a range of rows sees
// together is again at most two intervals. Everything in hsap that works on intervals rests on this, so rules that would break
// it are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/ir/ids.hpp"

namespace hsap {

/// The default is plain causal attention.
struct MaskRule {
  std::optional<Token> left;       ///< keys before the query that it sees; nullopt = all
  std::optional<Token> right = 0;  ///< keys after the query that it sees; nullopt = all, 0 = causal
  /// First tokens of the document that every later query sees beside its window or block (StreamingLLM, arXiv 2309.17453).
  Token sinks = 0;
  /// First tokens of the document that see each other both ways; later rows are causal (prefix-LM, arXiv 1910.10683, section
  /// 3.2.1). 0 = none.
  Token prefix = 0;
  /// A query sees, sinks apart, only its own block of so many tokens, counted from the document's start, causally (Llama 4's
  /// chunked attention).
  std::optional<Token> chunk;

  /// No query sees a later key.
  bool is_causal() const { return right == Token{0} && prefix <= 1; }

  Token first_key(Token row) const;
  Token end_key(Token row, Token length) const;
  Token sink_end(Token row) const;
  /// The rows [first_query(k), end_query(k)) see key k within [first_key, end_key); all later rows see the sinks too. Both are
  /// non-decreasing in k, and first_query(k) <= k < end_query(k).
  Token first_query(Token key) const;
  Token end_query(Token key, Token length) const;
  /// Pairs of the first `rows` rows of a document of `length` tokens. O(1). @pre rows <= length
  std::int64_t pairs(Token rows, Token length) const;

  bool operator==(const MaskRule&) const = default;
};

/// Keys up to and including the query, `tokens` of them: a sliding window as config.json files count it. @pre tokens >= 1
MaskRule window_rule(Token tokens);
/// Causal blocks of `tokens` tokens. @pre tokens >= 1
MaskRule block_rule(Token tokens);

/// Throws InvalidInput for lengths below what makes sense or above a trillion, and for combinations that are not one of:
/// causal, full, keys ahead, window (one- or two-sided) with or without sinks, blocks with or without sinks, prefix.
void check(const MaskRule& rule);

/// "causal", "full", "causal, 32 ahead", "window 128" (the query included), "window 64 left, 32 right", "blocks of 8192",
/// "prefix 64"; sinks are added: "window 128, 4 sinks".
std::string to_string(const MaskRule& rule);

/// The rule as it is asked for on a command line: causal, full, ahead:32, window:1024 (the query included), window:64,32 (keys
/// before and after it), blocks:8192, prefix:256; sinks:4 beside window or blocks. Throws InvalidInput that lists what works.
MaskRule parse_mask_rule(const std::string& text);

}  // namespace hsap
