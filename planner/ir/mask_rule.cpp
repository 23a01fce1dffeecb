#include "planner/ir/mask_rule.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

constexpr Token kMostTokens = 1'000'000'000'000;  // so that no sum of a position and a length overflows

constexpr const char* kGrammar =
    "expected causal, full, ahead:N, window:N, window:LEFT,RIGHT, blocks:N or prefix:N; sinks:N may stand beside window or "
    "blocks, as in sinks:4,window:1024";

/// Sum of min(max(x, low), high) over x in [begin, end). @pre low <= high, begin <= end
std::int64_t sum_of_clamped(Token begin, Token end, Token low, Token high) {
  const Token first = std::clamp(low, begin, end);
  const Token last = std::clamp(high, first, end);
  return (first - begin) * low + (first + last - 1) * (last - first) / 2 + (end - last) * high;
}

/// Sum of min(most, begin of the block that holds row i) over the first `rows` rows.
std::int64_t sum_of_block_begins(Token rows, Token chunk, Token most) {
  const Token blocks = rows / chunk;
  const Token below = std::min(blocks, most / chunk + 1);  // whole blocks that begin at `most` or before
  return below * (below - 1) / 2 * chunk * chunk + (blocks - below) * chunk * most +
         rows % chunk * std::min(most, blocks * chunk);
}

std::optional<std::string> length_problem(const char* name, const std::optional<Token>& length, Token least) {
  if (!length || (least <= *length && *length <= kMostTokens)) return std::nullopt;
  return std::string(name) + " is " + std::to_string(*length) + ", expected " + std::to_string(least) + " to " +
         std::to_string(kMostTokens) + " tokens";
}

/// What check() refuses.
std::optional<std::string> problem_of(const MaskRule& rule) {
  const bool plain = !rule.left && !rule.chunk && rule.right == Token{0} && rule.sinks == 0;
  for (const auto& problem :
       {length_problem("left", rule.left, 0), length_problem("right", rule.right, 0), length_problem("sinks", rule.sinks, 0),
        length_problem("prefix", rule.prefix, 0), length_problem("chunk", rule.chunk, 1)})
    if (problem) return problem;
  if (rule.chunk && rule.left) return "blocks and a window cannot be combined: a block bounds what its queries see already";
  if (rule.chunk && rule.right != Token{0}) return "blocks cannot be combined with later keys: they are causal";
  if (rule.left && !rule.right) return "a limit on earlier keys and none on later ones is not supported; limit both";
  if (rule.prefix > 0 && !plain) return "a prefix cannot be combined with anything: rows after it are plain causal";
  if (rule.sinks > 0 && !rule.left && !rule.chunk)
    return "sinks change nothing without a window or blocks: every query sees the first tokens; add a window or blocks";
  return std::nullopt;
}

/// One part of a rule's text: "window:64,32" -> {"window", {64, 32}}.
struct Term {
  std::string_view name;
  std::vector<Token> numbers;
};

class RuleText {
 public:
  explicit RuleText(const std::string& text) : text_(text) {
    std::string_view rest = text_;
    while (true) {
      const std::size_t comma = rest.find(',');
      read(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }

  MaskRule rule() const {
    MaskRule rule;
    bool has_base = false;  // anything but sinks
    bool has_sinks = false;
    for (const Term& term : terms_) {
      bool& taken = term.name == "sinks" ? has_sinks : has_base;
      if (taken) throw refusal("says two things that cannot be combined");
      taken = true;
      apply(term, rule);
    }
    if (const auto problem = problem_of(rule)) throw refusal(*problem);
    return rule;
  }

 private:
  InvalidInput refusal(const std::string& problem) const {
    return InvalidInput("mask rule \"" + text_ + "\": " + problem + "; " + kGrammar);
  }

  Token number(std::string_view digits) const {
    Token value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-')
      throw refusal("\"" + std::string(digits) + "\" is no number of tokens");
    return value;
  }

  /// A part between commas: a term, or one more number of the term before.
  void read(std::string_view part) {
    const std::size_t colon = part.find(':');
    const bool is_number = !part.empty() && part.front() >= '0' && part.front() <= '9';
    if (is_number && !terms_.empty() && !terms_.back().numbers.empty()) {
      terms_.back().numbers.push_back(number(part));
      return;
    }
    terms_.push_back({part.substr(0, colon), {}});
    if (colon != std::string_view::npos) terms_.back().numbers.push_back(number(part.substr(colon + 1)));
  }

  void apply(const Term& term, MaskRule& rule) const {
    const std::size_t count = term.numbers.size();
    if (term.name == "causal" && count == 0) return;
    if (term.name == "full" && count == 0) {
      rule.right = std::nullopt;
    } else if (term.name == "ahead" && count == 1) {
      rule.right = term.numbers[0];
    } else if (term.name == "window" && count == 1) {
      rule.left = term.numbers[0] - 1;
      if (*rule.left < 0) throw refusal("a window of 0 tokens holds not even the query; it must hold at least 1");
    } else if (term.name == "window" && count == 2) {
      rule.left = term.numbers[0];
      rule.right = term.numbers[1];
    } else if (term.name == "blocks" && count == 1) {
      rule.chunk = term.numbers[0];
    } else if (term.name == "prefix" && count == 1) {
      rule.prefix = positive(term);
    } else if (term.name == "sinks" && count == 1) {
      rule.sinks = positive(term);
    } else {
      throw refusal("\"" + std::string(term.name) + "\" with " + std::to_string(count) + " numbers is not understood");
    }
  }

  Token positive(const Term& term) const {
    if (term.numbers[0] < 1) throw refusal(std::string(term.name) + " must be at least 1");
    return term.numbers[0];
  }

  const std::string& text_;
  std::vector<Term> terms_;
};

}  // namespace

Token MaskRule::first_key(Token row) const {
  if (left) return std::max<Token>(0, row - *left);
  return chunk ? row - row % *chunk : 0;
}

Token MaskRule::end_key(Token row, Token length) const {
  return right ? std::min(length, std::max(row + *right + 1, prefix)) : length;
}

Token MaskRule::sink_end(Token row) const { return sinks > 0 ? std::min(sinks, first_key(row)) : 0; }

Token MaskRule::first_query(Token key) const { return right && key >= prefix ? std::max<Token>(0, key - *right) : 0; }

Token MaskRule::end_query(Token key, Token length) const {
  if (left) return std::min(length, key + *left + 1);
  return chunk ? std::min(length, key - key % *chunk + *chunk) : length;
}

std::int64_t MaskRule::pairs(Token rows, Token length) const {
  if (rows == 0) return 0;
  const auto within = [&](Token tokens) { return std::min(tokens, length); };
  std::int64_t total = rows * length;
  if (right) total = sum_of_clamped(within(*right) + 1, within(*right) + 1 + rows, within(prefix), length);
  const auto first_keys = [&](Token most) {  // sum of min(most, first_key)
    if (left) return sum_of_clamped(-within(*left), rows - within(*left), 0, most);
    return chunk ? sum_of_block_begins(rows, within(*chunk), most) : 0;
  };
  total -= first_keys(length);
  if (sinks > 0) total += first_keys(within(sinks));
  return total;
}

MaskRule window_rule(Token tokens) {
  MaskRule rule;
  rule.left = tokens - 1;
  return rule;
}

MaskRule block_rule(Token tokens) {
  MaskRule rule;
  rule.chunk = tokens;
  return rule;
}

void check(const MaskRule& rule) {
  if (const auto problem = problem_of(rule)) throw InvalidInput("mask rule: " + *problem);
}

std::string to_string(const MaskRule& rule) {
  const auto number = [](Token tokens) { return std::to_string(tokens); };
  std::string text;
  if (rule.chunk)
    text = "blocks of " + number(*rule.chunk);
  else if (rule.prefix > 0)
    text = "prefix " + number(rule.prefix);
  else if (!rule.right)
    text = "full";
  else if (rule.left && *rule.right > 0)
    text = "window " + number(*rule.left) + " left, " + number(*rule.right) + " right";
  else if (rule.left)
    text = "window " + number(*rule.left + 1);
  else
    text = *rule.right > 0 ? "causal, " + number(*rule.right) + " ahead" : "causal";
  if (rule.sinks > 0) text += ", " + number(rule.sinks) + (rule.sinks == 1 ? " sink" : " sinks");
  return text;
}

MaskRule parse_mask_rule(const std::string& text) { return RuleText(text).rule(); }

}  // namespace hsap
