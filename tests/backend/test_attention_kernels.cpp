// The attention kernels of every instruction set that this processor has, against attention pair by pair in double.
#include <catch2/catch.hpp>

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/kernel_set.hpp"
#include "backend/reference.hpp"
#include "backend/visible_rows.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

namespace {

constexpr float kUntouched = 12345;

HostTensor untouched(Token tokens, int heads, int width) {
  HostTensor tensor = make_tensor(tokens, heads, width);
  std::fill(tensor.values.begin(), tensor.values.end(), kUntouched);
  return tensor;
}

/// Which rows and heads a kernel works on. Its slices are rectangles of tensors of the whole batch: rows with gaps, heads side
/// by side.
struct Rectangle {
  std::vector<Index> queries, keys;
  HeadRange query_heads, kv_heads;
  VisibleRows visible;
  HeadGroups groups;
  std::vector<float> rates;
  PairDecay decay() const { return rates.empty() ? PairDecay{} : PairDecay{rates.data(), queries.data(), keys.data()}; }
};

Rectangle rectangle(const AttentionShape& shape, const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys,
                    const HeadRange& heads) {
  const int group = shape.queries_per_kv_head();
  const HeadRange kv_heads{heads.begin / group, (heads.end - 1) / group + 1};
  std::vector<float> rates;
  for (int head = kv_heads.begin; head < kv_heads.end && shape.decay > 0; ++head)
    rates.push_back(static_cast<float>(decay_rate(shape, head)));
  return {tokens_of(queries),
          tokens_of(keys),
          heads,
          kv_heads,
          visible_rows(mask, queries, keys),
          {heads.begin, kv_heads.begin, group},
          rates};
}

SliceView slice(const HostTensor& tensor, const std::vector<Index>& rows, const HeadRange& heads) {
  float* data = const_cast<float*>(tensor.values.data());  // a view serves reading and writing
  return {data + heads.begin * tensor.width,  rows.data(),  static_cast<Index>(rows.size()),
          Index{tensor.heads} * tensor.width, heads.size(), tensor.width};
}

PartialForward run_forward(const KernelSet& kernels, const AttentionShape& shape, const LayerInputs& inputs,
                           const Rectangle& part) {
  PartialForward out{untouched(inputs.q.tokens, shape.query_heads, shape.v_dim),
                     untouched(inputs.q.tokens, shape.query_heads, 1)};
  const AttendCall call{slice(inputs.q, part.queries, part.query_heads),
                        slice(inputs.k, part.keys, part.kv_heads),
                        slice(inputs.v, part.keys, part.kv_heads),
                        slice(out.o, part.queries, part.query_heads),
                        slice(out.lse, part.queries, part.query_heads),
                        part.visible.main.data(),
                        part.visible.sinks_or_null(),
                        part.groups,
                        part.decay()};
  (shape.kind == AttentionKind::softmax ? kernels.attend_softmax : kernels.attend_linear)(call);
  return out;
}

PartialBackward run_backward(const KernelSet& kernels, const AttentionShape& shape, const LayerInputs& inputs,
                             const Rectangle& part, const PartialForward& merged) {
  PartialBackward out{untouched(inputs.q.tokens, shape.query_heads, shape.qk_dim),
                      untouched(inputs.q.tokens, shape.kv_heads, shape.qk_dim),
                      untouched(inputs.q.tokens, shape.kv_heads, shape.v_dim)};
  const AttendBackwardCall call{slice(inputs.q, part.queries, part.query_heads),
                                slice(inputs.k, part.keys, part.kv_heads),
                                slice(inputs.v, part.keys, part.kv_heads),
                                slice(merged.o, part.queries, part.query_heads),
                                slice(merged.lse, part.queries, part.query_heads),
                                {},
                                slice(inputs.d_o, part.queries, part.query_heads),
                                slice(out.d_q, part.queries, part.query_heads),
                                slice(out.d_k, part.keys, part.kv_heads),
                                slice(out.d_v, part.keys, part.kv_heads),
                                part.visible.main.data(),
                                part.visible.sinks_or_null(),
                                part.groups,
                                part.decay()};
  (shape.kind == AttentionKind::softmax ? kernels.attend_backward_softmax : kernels.attend_backward_linear)(call);
  return out;
}

/// The rows and heads of the rectangle agree, everything else was left alone.
void check_rectangle(const std::string& name, const HostTensor& found, const HostTensor& expected,
                     const std::vector<Index>& rows, const HeadRange& heads) {
  CAPTURE(name);
  std::vector<float> inside, reference;
  HostTensor outside = found;
  for (const Index row : rows)
    for (int head = heads.begin; head < heads.end; ++head)
      for (int i = 0; i < found.width; ++i) {
        inside.push_back(row_of(found, row, head)[i]);
        reference.push_back(row_of(expected, row, head)[i]);
        row_of(outside, row, head)[i] = kUntouched;
      }
  CHECK(relative_error(inside, reference) < kTolerance);
  CHECK(outside.values == std::vector<float>(outside.values.size(), kUntouched));
}

struct Case {
  AttentionShape shape;
  DocumentMask mask;
  TokenSet queries, keys;
  HeadRange heads;
};

/// Every kernel set against the oracle.
void check_case(const Case& c, std::uint64_t seed) {
  const LayerInputs inputs = random_inputs(c.shape, c.mask.tokens(), seed);
  const Pairwise oracle(c.shape, c.mask, inputs);
  const Rectangle part = rectangle(c.shape, c.mask, c.queries, c.keys, c.heads);
  const PartialForward expected = oracle.forward(c.queries, c.keys, c.heads);
  const PartialForward merged = oracle.forward(c.queries, TokenSet{{0, c.mask.tokens()}}, c.heads);
  const PartialBackward expected_back = oracle.backward(c.queries, c.keys, c.heads, merged);
  for (const KernelSet* kernels : supported_kernel_sets()) {
    CAPTURE(kernels->name);
    const PartialForward found = run_forward(*kernels, c.shape, inputs, part);
    check_rectangle("o", found.o, expected.o, part.queries, part.query_heads);
    if (c.shape.kind == AttentionKind::softmax) check_rectangle("lse", found.lse, expected.lse, part.queries, part.query_heads);
    const PartialBackward found_back = run_backward(*kernels, c.shape, inputs, part, merged);
    check_rectangle("d_q", found_back.d_q, expected_back.d_q, part.queries, part.query_heads);
    check_rectangle("d_k", found_back.d_k, expected_back.d_k, part.keys, part.kv_heads);
    check_rectangle("d_v", found_back.d_v, expected_back.d_v, part.keys, part.kv_heads);
  }
}

Case random_case(Random& random, AttentionKind kind) {
  Case c;
  c.shape = random_shape(random, kind);
  c.mask = random_mask(random, random.between(1, 150), true);
  if (!c.mask.rule().is_causal()) c.shape.decay = 0;
  c.queries = random.one_in(3) ? TokenSet{{0, c.mask.tokens()}} : random_tokens(random, c.mask.tokens(), random.between(1, 99));
  c.keys = random.one_in(3) ? c.queries : random_tokens(random, c.mask.tokens(), random.between(1, 99));
  c.heads.begin = random.between(0, c.shape.query_heads - 1);
  c.heads.end = random.between(c.heads.begin + 1, c.shape.query_heads);
  return c;
}

}  // namespace

TEST_CASE("attention kernels: random sub-slices equal attention pair by pair, forward and backward") {
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear})
    for (unsigned seed = 0; seed < 120; ++seed) {
      CAPTURE(to_string(kind), seed);
      Random random(seed);
      check_case(random_case(random, kind), seed);
    }
}

TEST_CASE("attention kernels: several blocks of queries and keys, long documents beside short ones") {
  for (const double decay : {-1.0, 0.0, 0.5, 256.0})  // -1: softmax; the last leaves nothing of pairs 100 tokens apart
    for (int rule = 0; rule < (decay > 0 ? 1 : test::kRuleKinds); ++rule) {
      Case c;
      c.shape.kind = decay < 0 ? AttentionKind::softmax : AttentionKind::linear;
      c.shape.decay = std::max(decay, 0.0);
      c.shape.query_heads = c.shape.kv_heads = 1;
      c.shape.qk_dim = 24;
      c.shape.v_dim = 20;
      c.mask = DocumentMask({0, 1, 2, 100, 103, 700, 701}, test::rule_of_kind(rule, 40, 300, 20));
      CAPTURE(decay, to_string(c.mask.rule()));
      c.queries = TokenSet{{0, 50}, {60, 701}};
      c.keys = TokenSet{{0, 400}, {420, 701}};
      c.heads = {0, 1};
      check_case(c, 1);
    }
}

TEST_CASE("attention kernels: decay depends on distances alone, also where fp32 cannot count the tokens before") {
  constexpr Index kFar = 3 * (Index{1} << 24) + 1;
  AttentionShape shape;
  shape.kind = AttentionKind::linear;
  shape.query_heads = shape.kv_heads = 1;
  shape.qk_dim = shape.v_dim = 16;
  shape.decay = 10;
  const TokenSet all{{0, 300}};
  const LayerInputs inputs = random_inputs(shape, 300, 1);
  const Rectangle here = rectangle(shape, DocumentMask({0, 300}), all, all, {0, 1});
  std::vector<Index> there;
  for (const Index token : here.queries) there.push_back(token + kFar);
  for (const KernelSet* kernels : supported_kernel_sets()) {
    CAPTURE(kernels->name);
    const PartialForward found = run_forward(*kernels, shape, inputs, here);
    const HostTensor moved = make_tensor(300, 1, 16);
    kernels->attend_linear({.q = slice(inputs.q, here.queries, {0, 1}),
                            .k = slice(inputs.k, here.keys, {0, 1}),
                            .v = slice(inputs.v, here.keys, {0, 1}),
                            .o = slice(moved, here.queries, {0, 1}),
                            .lse = {},
                            .visible = here.visible.main.data(),
                            .sinks = here.visible.sinks_or_null(),
                            .groups = here.groups,
                            .decay = {here.rates.data(), there.data(), there.data()}});
    CHECK(moved.values == found.o.values);
  }
}

TEST_CASE("attention kernels: rows that see no key give o = 0 and lse = -infinity, keys that nobody sees have no gradient") {
  for (const KernelSet* kernels : supported_kernel_sets()) {
    CAPTURE(kernels->name);
    AttentionShape shape;
    shape.query_heads = shape.kv_heads = 1;
    shape.qk_dim = shape.v_dim = 4;
    const DocumentMask mask({0, 4, 8});
    const LayerInputs inputs = random_inputs(shape, 8, 1);
    const Rectangle part = rectangle(shape, mask, TokenSet{{0, 4}}, TokenSet{{4, 8}}, {0, 1});
    const PartialForward forward = run_forward(*kernels, shape, inputs, part);
    CHECK(std::all_of(forward.o.values.begin(), forward.o.values.begin() + 16, [](float x) { return x == 0; }));
    CHECK(std::all_of(forward.lse.values.begin(), forward.lse.values.begin() + 4,
                      [](float x) { return std::isinf(x) && x < 0; }));
    const PartialBackward backward = run_backward(*kernels, shape, inputs, part, forward);
    CHECK(std::all_of(backward.d_q.values.begin(), backward.d_q.values.begin() + 16, [](float x) { return x == 0; }));
    CHECK(std::all_of(backward.d_k.values.begin() + 16, backward.d_k.values.end(), [](float x) { return x == 0; }));
    CHECK(std::all_of(backward.d_v.values.begin() + 16, backward.d_v.values.end(), [](float x) { return x == 0; }));
  }
}

TEST_CASE("attention kernels: parts of the keys, merged or added, equal the whole") {
  for (const KernelSet* kernels : supported_kernel_sets())
    for (unsigned seed = 0; seed < 20; ++seed) {
      CAPTURE(kernels->name, seed);
      Random random(seed);
      const AttentionShape shape = random_shape(random, AttentionKind::softmax);
      const DocumentMask mask = random_mask(random, random.between(2, 150), true);
      const LayerInputs inputs = random_inputs(shape, mask.tokens(), seed);
      const TokenSet all{{0, mask.tokens()}};
      const TokenSet some = random_tokens(random, mask.tokens(), 50);
      const HeadRange heads{0, shape.query_heads};
      const Rectangle first = rectangle(shape, mask, all, some, heads);
      const Rectangle second = rectangle(shape, mask, all, difference(all, some), heads);
      const LayerResults whole = reference_attention(shape, mask, inputs);

      const PartialForward merged = run_forward(*kernels, shape, inputs, first);
      const PartialForward from = run_forward(*kernels, shape, inputs, second);
      const std::vector<Index> rows = tokens_of(all);
      merge_rows({slice(from.o, rows, heads), slice(from.lse, rows, heads), slice(merged.o, rows, heads),
                  slice(merged.lse, rows, heads)});
      CHECK(relative_error(merged.o.values, whole.o.values) < kTolerance);

      const PartialBackward sum = run_backward(*kernels, shape, inputs, first, merged);
      const PartialBackward rest = run_backward(*kernels, shape, inputs, second, merged);
      add_rows({slice(rest.d_q, rows, heads), slice(sum.d_q, rows, heads)});
      for (const Index row : second.keys) {
        std::copy_n(row_of(rest.d_k, row, 0), shape.kv_heads * shape.qk_dim, const_cast<float*>(row_of(sum.d_k, row, 0)));
        std::copy_n(row_of(rest.d_v, row, 0), shape.kv_heads * shape.v_dim, const_cast<float*>(row_of(sum.d_v, row, 0)));
      }
      CHECK(relative_error(sum.d_q.values, whole.d_q.values) < kTolerance);
      CHECK(relative_error(sum.d_k.values, whole.d_k.values) < kTolerance);
      CHECK(relative_error(sum.d_v.values, whole.d_v.values) < kTolerance);
    }
}

TEST_CASE("attention kernels: all instruction sets agree, and a second run gives the same bits") {
  Random random(3);
  for (int repeat = 0; repeat < 10; ++repeat) {
    CAPTURE(repeat);
    const Case c = random_case(random, AttentionKind::softmax);
    const LayerInputs inputs = random_inputs(c.shape, c.mask.tokens(), 3);
    const Rectangle part = rectangle(c.shape, c.mask, c.queries, c.keys, c.heads);
    const PartialForward expected = run_forward(fastest_kernel_set(), c.shape, inputs, part);
    CHECK(run_forward(fastest_kernel_set(), c.shape, inputs, part).o.values == expected.o.values);
    for (const KernelSet* kernels : supported_kernel_sets())
      CHECK(relative_error(run_forward(*kernels, c.shape, inputs, part).o.values, expected.o.values) < 2e-6);
  }
}

TEST_CASE("attention kernels: a document's rows keep their bits when the values of all other documents change") {
  AttentionShape shape;
  shape.query_heads = shape.kv_heads = 1;
  shape.qk_dim = shape.v_dim = 16;
  const DocumentMask mask({0, 30, 75, 200});
  const TokenSet all{{0, 200}};
  const Rectangle part = rectangle(shape, mask, all, all, {0, 1});
  const LayerInputs inputs = random_inputs(shape, 200, 1);
  LayerInputs changed = random_inputs(shape, 200, 2);
  for (const auto tensor : {&LayerInputs::q, &LayerInputs::k, &LayerInputs::v, &LayerInputs::d_o})
    std::copy_n(row_of(inputs.*tensor, 30, 0), 45 * 16, row_of(changed.*tensor, 30, 0));
  const auto document = [](const HostTensor& tensor) {
    return std::vector<float>(row_of(tensor, 30, 0), row_of(tensor, 75, 0));
  };
  for (const KernelSet* kernels : supported_kernel_sets()) {
    CAPTURE(kernels->name);
    const PartialForward forward = run_forward(*kernels, shape, inputs, part);
    const PartialForward other = run_forward(*kernels, shape, changed, part);
    CHECK(document(forward.o) == document(other.o));
    const PartialBackward backward = run_backward(*kernels, shape, inputs, part, forward);
    const PartialBackward other_backward = run_backward(*kernels, shape, changed, part, other);
    CHECK(document(backward.d_q) == document(other_backward.d_q));
    CHECK(document(backward.d_k) == document(other_backward.d_k));
    CHECK(document(backward.d_v) == document(other_backward.d_v));
  }
}

TEST_CASE("attention kernels: the FLOPs executed cover the pairs, and short documents do not pay for each other") {
  AttentionShape shape;
  shape.query_heads = shape.kv_heads = 1;
  shape.qk_dim = shape.v_dim = 32;
  const Token tokens = 1024;
  std::vector<Token> offsets{0};
  while (offsets.back() < tokens) offsets.push_back(offsets.back() + 64);
  const LayerInputs inputs = random_inputs(shape, tokens, 1);
  PartialForward out{make_tensor(tokens, 1, 32), make_tensor(tokens, 1, 1)};
  const TokenSet all{{0, tokens}};
  const DocumentMask mask(offsets);
  const Rectangle part = rectangle(shape, mask, all, all, {0, 1});
  const HeadRange head{0, 1};
  const AttendCall call{slice(inputs.q, part.queries, head), slice(inputs.k, part.keys, head),
                        slice(inputs.v, part.keys, head),    slice(out.o, part.queries, head),
                        slice(out.lse, part.queries, head),  part.visible.main.data(),
                        part.visible.sinks_or_null(),        part.groups, part.decay()};
  for (const KernelSet* kernels : supported_kernel_sets()) {
    CAPTURE(kernels->name);
    const double executed = kernels->attend_softmax(call);
    const double useful = 4.0 * 32 * static_cast<double>(mask.pairs());
    CHECK(executed >= useful);
    CHECK(executed <= 2 * useful);  // whole squares of 64 x 64 instead of their lower halves
  }
}
