#include "planner/strategies/strategy_options.hpp"

#include <charconv>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

std::string text_of(Token number) { return number == 0 ? "" : std::to_string(number); }

template <class Number>
Number parse_number(const std::string& name, const std::string& text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1)
    throw InvalidInput(name + ": found \"" + text + "\", expected a whole number from 1");
  return number;
}

/// The enumerator whose to_string() is the text.
template <class Enum>
Enum parse_choice(const std::string& name, const std::string& text, const std::vector<Enum>& all) {
  std::string names;
  for (const Enum candidate : all) {
    if (text == to_string(candidate)) return candidate;
    names += (names.empty() ? "" : ", ") + to_string(candidate);
  }
  throw InvalidInput(name + ": found \"" + text + "\", expected one of " + names);
}

template <class Enum>
std::string text_of(const std::optional<Enum>& choice) {
  return choice ? to_string(*choice) : std::string();
}

}  // namespace

std::string to_string(KvForBackward choice) { return choice == KvForBackward::kept ? "kept" : "again"; }

std::string to_string(Moving choice) {
  switch (choice) {
    case Moving::kv:
      return "kv";
    case Moving::q:
      return "q";
    case Moving::cheaper:
      return "cheaper";
    case Moving::balanced:
      return "balanced";
    case Moving::tiles:
      return "tiles";
  }
  return {};
}

std::string to_string(KvRoute choice) {
  switch (choice) {
    case KvRoute::direct:
      return "direct";
    case KvRoute::hierarchical:
      return "hierarchical";
    case KvRoute::rounds:
      return "rounds";
    case KvRoute::joined:
      return "joined";
  }
  return {};
}

std::string to_string(StateRoute choice) {
  switch (choice) {
    case StateRoute::chain:
      return "chain";
    case StateRoute::gather:
      return "gather";
    case StateRoute::scan:
      return "scan";
  }
  return {};
}

const std::vector<OptionField>& option_fields() {
  using Options = StrategyOptions;
  using Text = const std::string&;
  static const std::vector<OptionField> fields{
      {"placement", "NAME", "Placement law", [](const Options& o) { return o.placement; },
       [](Options& o, Text text) { o.placement = text; }},
      {"stages", "N", "Steps in which communication hides behind attention", [](const Options& o) { return text_of(o.stages); },
       [](Options& o, Text text) { o.stages = parse_number<int>("stages", text); }},
      {"window", "N", "Ranks of an inner ring", [](const Options& o) { return text_of(o.window); },
       [](Options& o, Text text) { o.window = parse_number<int>("window", text); }},
      {"block", "N", "Tokens of the blocks that are placed", [](const Options& o) { return text_of(o.block); },
       [](Options& o, Text text) { o.block = parse_number<Token>("block", text); }},
      {"dkv-dtype", "fp32|bf16|fp16", "Type of dK and dV on the wire", [](const Options& o) { return text_of(o.d_kv); },
       [](Options& o, Text text) { o.d_kv = parse_dtype(text); }},
      {"kv", "kept|again", "Received K and V: kept for backward, or sent again", [](const Options& o) { return text_of(o.kv); },
       [](Options& o, Text text) {
         o.kv = parse_choice<KvForBackward>("kv", text, {KvForBackward::kept, KvForBackward::again});
       }},
      {"moving", "kv|q|cheaper|balanced|tiles",
       "What meets the other half of a block: K and V, Q and O, or both, in a grid of ranks",
       [](const Options& o) { return text_of(o.moving); },
       [](Options& o, Text text) {
         o.moving =
             parse_choice<Moving>("moving", text, {Moving::kv, Moving::q, Moving::cheaper, Moving::balanced, Moving::tiles});
       }},
      {"exchange", "direct|hierarchical|rounds|joined",
       "K and V: to each who needs them, or once into each node, in rounds from any that has them; joined: before attention",
       [](const Options& o) { return text_of(o.exchange); },
       [](Options& o, Text text) {
         o.exchange = parse_choice<KvRoute>("exchange", text,
                                            {KvRoute::direct, KvRoute::hierarchical, KvRoute::rounds, KvRoute::joined});
       }},
      {"states", "chain|gather|scan", "States of linear attention: along a chain, to all at once, or in a pipelined scan",
       [](const Options& o) { return text_of(o.states); },
       [](Options& o, Text text) {
         o.states = parse_choice<StateRoute>("states", text, {StateRoute::chain, StateRoute::gather, StateRoute::scan});
       }},
  };
  return fields;
}

std::string to_string(const StrategyOptions& options) {
  std::string text;
  const auto add = [&](const std::string& phrase) { text += (text.empty() ? "" : ", ") + phrase; };
  if (!options.placement.empty()) add(options.placement);
  if (options.stages > 0) add(std::to_string(options.stages) + (options.stages == 1 ? " stage" : " stages"));
  if (options.window > 0) add("window " + std::to_string(options.window));
  if (options.block > 0) add("blocks of " + std::to_string(options.block));
  if (options.d_kv) add(to_string(*options.d_kv) + " dKV");
  if (options.kv) add("KV " + to_string(*options.kv));
  if (options.moving) add("moving " + to_string(*options.moving));
  if (options.exchange) add(to_string(*options.exchange) + " exchange");
  if (options.states) add("states by " + to_string(*options.states));
  return text;
}

StrategyOptions overridden(StrategyOptions base, const StrategyOptions& forced) {
  for (const OptionField& field : option_fields())
    if (const std::string value = field.value(forced); !value.empty()) field.set(base, value);
  return base;
}

}  // namespace hsap
