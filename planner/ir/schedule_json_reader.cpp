// Reading what schedule_json.cpp writes. Checks types and indices, so that a Schedule read is safe to walk; verify() does the
// rest.
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "planner/ir/errors.hpp"
#include "planner/ir/json_fields.hpp"
#include "planner/ir/schedule_json.hpp"

namespace hsap {

namespace {

using nlohmann::json;

constexpr std::int64_t kMostTokens = std::numeric_limits<std::int64_t>::max() / 2;

int read_int(const json& value, int least) {
  return static_cast<int>(read_integer(value, least, std::numeric_limits<int>::max()));
}

std::uint32_t read_index(const json& value, std::size_t size) {
  if (size == 0) throw JsonMistake{"", "is an index into an empty list"};
  return static_cast<std::uint32_t>(read_integer(value, 0, static_cast<std::int64_t>(size) - 1));
}

/// The enumerator whose to_string() is the text.
template <class Enum>
Enum read_name(const json& value, std::initializer_list<Enum> all) {
  const std::string text = read_text(value);
  std::string names;
  for (const Enum candidate : all) {
    if (text == to_string(candidate)) return candidate;
    names += (names.empty() ? "" : ", ") + to_string(candidate);
  }
  throw JsonMistake{"", "found \"" + text + "\", expected one of " + names};
}

DType read_dtype(const json& value) { return read_name(value, {DType::bf16, DType::fp16, DType::fp32}); }
AttentionKind read_attention_kind(const json& value) {
  return read_name(value, {AttentionKind::softmax, AttentionKind::linear});
}
Role read_role(const json& value) {
  return read_name(value, {Role::q, Role::k, Role::v, Role::o, Role::lse, Role::d_o, Role::delta, Role::d_q, Role::d_k,
                           Role::d_v, Role::state, Role::d_state});
}

MaskRule read_rule(const json& value) {
  expect_keys(value, {"left", "right", "sinks", "prefix", "chunk"});
  const auto length = [](const json& number) { return read_integer(number, 0, kMostTokens); };
  const auto limit = [&](const json& number) { return number.is_null() ? std::nullopt : std::optional(length(number)); };
  MaskRule rule;
  if (value.contains("left")) rule.left = read_field(value, "left", limit);
  if (value.contains("right")) rule.right = read_field(value, "right", limit);
  if (value.contains("sinks")) rule.sinks = read_field(value, "sinks", length);
  if (value.contains("prefix")) rule.prefix = read_field(value, "prefix", length);
  if (value.contains("chunk")) rule.chunk = read_field(value, "chunk", limit);
  try {
    check(rule);
  } catch (const InvalidInput& error) {
    throw JsonMistake{"", error.what()};
  }
  return rule;
}

/// The causal rule when the object has none.
MaskRule read_rule_of(const json& object) {
  return object.contains("rule") ? read_field(object, "rule", read_rule) : MaskRule{};
}

AttentionShape read_shape(const json& value) {
  expect_keys(value, {"kind", "query_heads", "kv_heads", "qk_dim", "v_dim", "dtype", "rule", "decay"});
  const auto positive = [](const json& number) { return read_int(number, 1); };
  AttentionShape shape;
  shape.kind = read_field(value, "kind", read_attention_kind);
  shape.query_heads = read_field(value, "query_heads", positive);
  shape.kv_heads = read_field(value, "kv_heads", positive);
  shape.qk_dim = read_field(value, "qk_dim", positive);
  shape.v_dim = read_field(value, "v_dim", positive);
  shape.dtype = read_field(value, "dtype", read_dtype);
  shape.mask = read_rule_of(value);
  if (value.contains("decay")) shape.decay = read_field(value, "decay", read_scale);
  return shape;
}

DocumentMask read_mask(const json& value) {
  expect_keys(value, {"offsets", "rule"});
  auto offsets = read_field(value, "offsets", [](const json& list) {
    return read_list(list, [](const json& number) { return read_integer(number, 0, kMostTokens); });
  });
  const MaskRule rule = read_rule_of(value);
  try {
    return DocumentMask(std::move(offsets), rule);
  } catch (const InvalidInput& error) {
    throw JsonMistake{"", error.what()};
  }
}

TokenSet read_token_set(const json& value) {
  const auto flat = read_list(value, [](const json& number) { return read_integer(number, 0, kMostTokens); });
  if (flat.size() % 2 != 0)
    throw JsonMistake{"", "has " + std::to_string(flat.size()) + " numbers, expected pairs of begin and end"};
  for (std::size_t i = 1; i < flat.size(); ++i)
    if (flat[i] <= flat[i - 1])
      throw JsonMistake{"[" + std::to_string(i) + "]", "found " + std::to_string(flat[i]) +
                                                           ", expected more than its predecessor " +
                                                           std::to_string(flat[i - 1]) + " (ranges ascend and do not touch)"};
  std::vector<TokenRange> ranges;
  for (std::size_t i = 0; i < flat.size(); i += 2) ranges.push_back({flat[i], flat[i + 1]});
  return TokenSet(std::move(ranges));
}

/// Reads the parts of one rank; knows how many token sets, ranks and buffers there are.
class ProgramReader {
 public:
  ProgramReader(std::size_t token_sets, std::size_t ranks) : token_sets_(token_sets), ranks_(ranks) {}

  RankProgram read(const json& value) {
    expect_keys(value, {"tokens", "boundary", "buffers", "forward", "backward"});
    RankProgram program;
    program.tokens = token_set(value);
    program.buffers = read_field(value, "buffers", [&](const json& list) {
      return read_list_as<PooledList<Buffer>>(list, [&](const json& item) { return read_buffer(item); });
    });
    buffers_ = program.buffers.size();
    program.boundary = read_field(value, "boundary", [&](const json& item) { return read_boundary(item); });
    const auto read_ops = [&](const json& list) {
      expect_array(list);
      ops_ = list.size();
      return read_list_as<PooledList<Op>>(list, [&](const json& item) { return read_op(item); });
    };
    program.forward = read_field(value, "forward", read_ops);
    program.backward = read_field(value, "backward", read_ops);
    return program;
  }

 private:
  TokenSetId token_set(const json& object) const {
    return read_field(object, "tokens", [&](const json& value) { return read_index(value, token_sets_); });
  }

  static HeadRange read_heads(const json& value) {
    expect_array(value, 2);
    const auto head = [](const json& number) { return read_int(number, 0); };
    return {read_element(value, 0, head), read_element(value, 1, head)};
  }

  Buffer read_buffer(const json& value) const {
    expect_keys(value, {"role", "dtype", "tokens", "heads", "name"});
    Buffer buffer;
    buffer.role = read_field(value, "role", read_role);
    buffer.dtype = read_field(value, "dtype", read_dtype);
    buffer.tokens = token_set(value);
    buffer.heads = read_field(value, "heads", read_heads);
    buffer.name = read_field(value, "name", read_text);
    return buffer;
  }

  RankBoundary read_boundary(const json& value) const {
    expect_keys(value, {"q", "k", "v", "o", "d_o", "d_q", "d_k", "d_v"});
    const auto buffer = [&](const char* key) {
      return read_field(value, key, [&](const json& number) { return read_index(number, buffers_); });
    };
    return {buffer("q"), buffer("k"), buffer("v"), buffer("o"), buffer("d_o"), buffer("d_q"), buffer("d_k"), buffer("d_v")};
  }

  Slice read_slice(const json& value) const {
    expect_array(value, 4);
    const auto head = [](const json& number) { return read_int(number, 0); };
    Slice slice;
    slice.buffer = read_element(value, 0, [&](const json& number) { return read_index(number, buffers_); });
    slice.tokens = read_element(value, 1, [&](const json& number) { return read_index(number, token_sets_); });
    slice.heads = {read_element(value, 2, head), read_element(value, 3, head)};
    return slice;
  }

  Slice slice(const json& object, const char* key) const {
    return read_field(object, key, [&](const json& value) { return read_slice(value); });
  }
  std::optional<Slice> optional_slice(const json& object, const char* key) const {
    if (!object.contains(key)) return std::nullopt;
    return slice(object, key);
  }

  PooledList<Message> messages(const json& object, const char* key) const {
    return read_field(object, key, [&](const json& list) {
      return read_list_as<PooledList<Message>>(list, [&](const json& item) {
        expect_keys(item, {"peer", "parts"});
        Message message;
        message.peer = read_field(item, "peer", [&](const json& number) { return read_index(number, ranks_); });
        const auto parts = read_field(item, "parts", [&](const json& items) {
          return read_list(items, [&](const json& part) { return read_slice(part); });
        });
        message.parts.assign(parts.begin(), parts.end());
        return message;
      });
    });
  }

  TransferList terms(const json& object) const {
    const std::vector<Transfer> terms = read_field(object, "terms", [&](const json& list) {
      return read_list(list, [&](const json& item) {
        expect_array(item, 2);
        const auto end = [&](const json& part) { return read_slice(part); };
        return Transfer{read_element(item, 0, end), read_element(item, 1, end)};
      });
    });
    return TransferList(terms.begin(), terms.end());
  }

  Op read_op(const json& value) const {
    if (!value.is_object()) expect_keys(value, {});
    Op op;
    op.id = read_field(value, "id", [](const json& number) {
      return static_cast<OpIndex>(read_integer(number, 0, std::numeric_limits<OpIndex>::max()));
    });
    op.stream = read_field(value, "stream", [](const json& number) { return read_int(number, 0); });
    op.step = read_field(value, "step", [](const json& number) { return read_int(number, std::numeric_limits<int>::min()); });
    if (value.contains("after"))
      op.after = read_field(value, "after", [&](const json& list) {
        const std::vector<OpIndex> earlier = read_list(list, [&](const json& number) { return read_index(number, ops_); });
        return OpList(earlier.begin(), earlier.end());
      });
    op.body = read_body(value);
    return op;
  }

  static void expect_op_keys(const json& value, std::initializer_list<const char*> of_kind) {
    std::vector<const char*> known{"id", "kind", "stream", "step", "after"};
    known.insert(known.end(), of_kind.begin(), of_kind.end());
    expect_keys(value, known);
  }

  OpBody read_body(const json& value) const {
    const std::string kind = read_field(value, "kind", read_text);
    if (kind == kind_name(Exchange{})) {
      expect_op_keys(value, {"sends", "recvs"});
      return Exchange{messages(value, "sends"), messages(value, "recvs")};
    }
    if (kind == kind_name(Attend{})) {
      expect_op_keys(value, {"q", "k", "v", "o", "lse"});
      return Attend{slice(value, "q"), slice(value, "k"), slice(value, "v"), slice(value, "o"), optional_slice(value, "lse")};
    }
    if (kind == kind_name(Merge{})) {
      expect_op_keys(value, {"from_o", "from_lse", "o", "lse"});
      return Merge{slice(value, "from_o"), slice(value, "from_lse"), slice(value, "o"), slice(value, "lse")};
    }
    if (kind == kind_name(Delta{})) {
      expect_op_keys(value, {"o", "d_o", "delta"});
      return Delta{slice(value, "o"), slice(value, "d_o"), slice(value, "delta")};
    }
    if (kind == kind_name(AttendBackward{})) {
      expect_op_keys(value, {"q", "k", "v", "o", "lse", "d_o", "d_q", "d_k", "d_v"});
      return AttendBackward{slice(value, "q"),
                            slice(value, "k"),
                            slice(value, "v"),
                            optional_slice(value, "o"),
                            optional_slice(value, "lse"),
                            slice(value, "d_o"),
                            slice(value, "d_q"),
                            slice(value, "d_k"),
                            slice(value, "d_v")};
    }
    if (kind == kind_name(Accumulate{})) {
      expect_op_keys(value, {"terms"});
      return Accumulate{terms(value)};
    }
    if (kind == kind_name(Copy{})) {
      expect_op_keys(value, {"terms"});
      return Copy{terms(value)};
    }
    if (kind == kind_name(Zero{})) {
      expect_op_keys(value, {"slices"});
      return Zero{read_field(value, "slices", [&](const json& list) {
        return read_list(list, [&](const json& item) { return read_slice(item); });
      })};
    }
    if (kind == kind_name(StateUpdate{})) {
      expect_op_keys(value, {"a", "b", "before", "state"});
      return StateUpdate{slice(value, "a"), slice(value, "b"), optional_slice(value, "before"), slice(value, "state")};
    }
    if (kind == kind_name(StateSum{})) {
      expect_op_keys(value, {"terms", "state"});
      return StateSum{
          read_field(value, "terms",
                     [&](const json& list) { return read_list(list, [&](const json& term) { return read_slice(term); }); }),
          slice(value, "state")};
    }
    if (kind == kind_name(StateApply{})) {
      expect_op_keys(value, {"x", "state", "out", "transposed"});
      return StateApply{slice(value, "x"), slice(value, "state"), slice(value, "out"),
                        read_field(value, "transposed", read_bool)};
    }
    throw JsonMistake{".kind", "found \"" + kind + "\", expected the name of an op such as \"exchange\" or \"attend\""};
  }

  const std::size_t token_sets_;
  const std::size_t ranks_;
  std::size_t buffers_ = 0;
  std::size_t ops_ = 0;  // of the phase that is being read
};

Schedule read_schedule(const json& value) {
  expect_keys(value, {"version", "strategy", "degrees", "shape", "mask", "token_sets", "ranks"});
  Schedule schedule;
  schedule.strategy = read_field(value, "strategy", read_text);
  schedule.degrees = read_field(value, "degrees", [](const json& text) {
    try {
      return parse_degrees(read_text(text));
    } catch (const InvalidInput& error) {
      throw JsonMistake{"", error.what()};
    }
  });
  schedule.shape = read_field(value, "shape", read_shape);
  schedule.mask = read_field(value, "mask", read_mask);
  schedule.token_sets = read_field(value, "token_sets", [](const json& list) { return read_list(list, read_token_set); });
  schedule.ranks = read_field(value, "ranks", [&](const json& list) {
    expect_array(list);
    ProgramReader reader(schedule.token_sets.size(), list.size());
    return read_list(list, [&](const json& item) { return reader.read(item); });
  });
  return schedule;
}

}  // namespace

Schedule schedule_from_json(const nlohmann::json& json) {
  try {
    if (!json.is_object()) expect_keys(json, {});
    // Before anything else: another version may have other keys.
    read_field(json, "version",
               [](const nlohmann::json& value) { return read_integer(value, kScheduleJsonVersion, kScheduleJsonVersion); });
    return read_schedule(json);
  } catch (const JsonMistake& mistake) {
    throw InvalidInput("schedule" + mistake.path + ": " + mistake.message);
  }
}

}  // namespace hsap
