// Mask rules as text: what is printed, what is read, what is refused.
#include <catch2/catch.hpp>

#include "planner/ir/errors.hpp"
#include "planner/ir/mask_rule.hpp"
#include "tests/mask_rules.hpp"

using namespace hsap;
using Catch::Contains;

namespace {

std::string refusal(const std::string& text) {
  try {
    return "accepted as " + to_string(parse_mask_rule(text));
  } catch (const InvalidInput& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("mask rule: every kind can be asked for, and is told in words") {
  const auto told = [](const std::string& text) { return to_string(parse_mask_rule(text)); };
  CHECK(told("causal") == "causal");
  CHECK(told("full") == "full");
  CHECK(told("ahead:32") == "causal, 32 ahead");
  CHECK(told("window:1024") == "window 1024");
  CHECK(told("window:1") == "window 1");
  CHECK(told("window:64,32") == "window 64 left, 32 right");
  CHECK(told("window:64,0") == "window 65");
  CHECK(told("sinks:4,window:128") == "window 128, 4 sinks");
  CHECK(told("window:64,32,sinks:1") == "window 64 left, 32 right, 1 sink");
  CHECK(told("blocks:8192") == "blocks of 8192");
  CHECK(told("blocks:512,sinks:4") == "blocks of 512, 4 sinks");
  CHECK(told("prefix:256") == "prefix 256");
  CHECK(parse_mask_rule("causal") == MaskRule{});
  CHECK(parse_mask_rule("window:7") == window_rule(7));
  CHECK(parse_mask_rule("blocks:7") == block_rule(7));
}

TEST_CASE("mask rule: what cannot be meant is refused, with what works") {
  for (const std::string text : {"", "Causal", "window", "window:", "window:1,2,3", "window:-1", "window:x",
                                 "sinks:4x,window:8", "32", "window:8,,sinks:1", "blocks:1,2", "full:3", "causal,"})
    CHECK_THAT(refusal(text), Contains("mask rule \"" + text + "\"") && Contains("expected causal, full, ahead:N, window:N"));
  CHECK_THAT(refusal("window:0"), Contains("holds not even the query"));
  CHECK_THAT(refusal("blocks:0"), Contains("chunk is 0, expected 1 to"));
  CHECK_THAT(refusal("prefix:0"), Contains("prefix must be at least 1"));
  CHECK_THAT(refusal("sinks:0,window:4"), Contains("sinks must be at least 1"));
  CHECK_THAT(refusal("window:9999999999999"), Contains("expected 0 to 1000000000000 tokens"));
  CHECK_THAT(refusal("window:99999999999999999999"), Contains("is no number of tokens"));
  CHECK_THAT(refusal("sinks:4"), Contains("sinks change nothing without a window or blocks"));
  CHECK_THAT(refusal("sinks:4,full"), Contains("sinks change nothing"));
  CHECK_THAT(refusal("prefix:4,sinks:4"), Contains("a prefix cannot be combined"));
  for (const std::string text :
       {"window:4,blocks:8", "full,window:4", "causal,full", "prefix:4,blocks:4", "sinks:1,sinks:2,window:4"})
    CHECK_THAT(refusal(text), Contains("says two things that cannot be combined"));
}

TEST_CASE("mask rule: combinations that break intervals or that no model has are refused") {
  const auto refuse = [](MaskRule rule, const std::string& message) { CHECK_THROWS_WITH(check(rule), Contains(message)); };
  MaskRule rule = window_rule(4);
  rule.right = std::nullopt;
  refuse(rule, "limit both");
  rule = window_rule(4);
  rule.chunk = 4;
  refuse(rule, "blocks and a window");
  rule = block_rule(4);
  rule.right = 1;
  refuse(rule, "cannot be combined with later keys");
  rule = window_rule(4);
  rule.prefix = 8;
  refuse(rule, "a prefix cannot be combined");
  rule = window_rule(0);
  refuse(rule, "left is -1, expected 0 to");
  for (int kind = 0; kind < test::kRuleKinds; ++kind) CHECK_NOTHROW(check(test::rule_of_kind(kind, 3, 5, 2)));
}
