// State kernels of linear attention, and the elementwise ones, against plain loops.
#include <catch2/catch.hpp>

#include <cmath>

#include "backend/cpu/elementwise.hpp"
#include "backend/cpu/kernel_set.hpp"
#include "tests/backend/pairwise.hpp"
#include "tests/backend/random_problem.hpp"

using namespace hsap;

namespace {

SliceView slice(const HostTensor& tensor, const std::vector<Index>& rows, int first_head, int heads) {
  float* data = const_cast<float*>(tensor.values.data());  // a view serves reading and writing
  return {data + first_head * tensor.width,   rows.data(), static_cast<Index>(rows.size()),
          Index{tensor.heads} * tensor.width, heads,       tensor.width};
}

HostTensor random_values(Random& random, Token tokens, int heads, int width) {
  HostTensor tensor = make_tensor(tokens, heads, width);
  for (float& value : tensor.values) value = static_cast<float>(random.between(-1000, 1000)) / 500;
  return tensor;
}

/// Rows in use, heads of x and of the state: `heads` heads from `first` on, each state head serving `group` of them.
struct Sizes {
  Token tokens;
  std::vector<Index> rows;
  int first, heads, group, first_kv, kv_heads, height, width;
  std::vector<float> rates;  // [kv_heads]; empty: no decay
  const float* rates_or_null() const { return rates.empty() ? nullptr : rates.data(); }
  /// What is left after so many tokens, of the kv head that serves head `head` of the layer.
  double left(int head, double distance) const {
    return rates.empty() ? 1
                         : std::exp(-static_cast<double>(rates[static_cast<std::size_t>(head / group - first_kv)]) * distance);
  }
};

Sizes random_sizes(Random& random) {
  Sizes sizes{};
  sizes.tokens = random.between(1, 500);
  for (Token token = 0; token < sizes.tokens; ++token)
    if (!random.one_in(4)) sizes.rows.push_back(token);
  sizes.group = random.between(1, 3);
  sizes.first = random.between(0, 4);
  sizes.heads = random.between(1, 5);
  sizes.first_kv = sizes.first / sizes.group;
  sizes.kv_heads = (sizes.first + sizes.heads - 1) / sizes.group - sizes.first_kv + 1;
  sizes.height = random.one_of({1, 3, 16, 33, 64});
  sizes.width = random.one_of({1, 5, 16, 31, 64});
  if (random.one_in(2))  // the largest leave nothing of what is 100 tokens away
    for (int head = 0; head < sizes.kv_heads; ++head)
      sizes.rates.push_back(static_cast<float>(random.one_of({1, 30, 1000})) / 1000);
  return sizes;
}

const std::vector<Index> kStateRow{0};

}  // namespace

TEST_CASE("state update: equals the sum of outer products over rows and the heads of a group, on top of the state before") {
  for (const KernelSet* kernels : supported_kernel_sets())
    for (unsigned seed = 0; seed < 30; ++seed) {
      CAPTURE(kernels->name, seed);
      Random random(seed);
      const Sizes sizes = random_sizes(random);
      const int all_heads = sizes.first + sizes.heads;
      const HostTensor a = random_values(random, sizes.tokens, all_heads, sizes.height);
      const HostTensor b = random_values(random, sizes.tokens, all_heads, sizes.width);
      const HostTensor before = random_values(random, 1, sizes.kv_heads, sizes.height * sizes.width);
      const bool with_before = random.one_in(2);
      const auto rows = static_cast<Index>(sizes.rows.size());
      const bool forward = random.one_in(2);
      const RowDecay decay{sizes.rates_or_null(), forward ? rows - 1 : 0, forward ? -1 : 1};
      std::vector<double> expected(before.values.size());
      const auto at = [&](int kv, int i, int j) -> double& {
        return expected[static_cast<std::size_t>((kv * sizes.height + i) * sizes.width + j)];
      };
      for (int kv = 0; kv < sizes.kv_heads && with_before; ++kv)
        for (int i = 0; i < sizes.height; ++i)
          for (int j = 0; j < sizes.width; ++j)
            at(kv, i, j) = sizes.left((sizes.first_kv + kv) * sizes.group, static_cast<double>(rows)) *
                           static_cast<double>(row_of(before, 0, kv)[i * sizes.width + j]);
      for (Index n = 0; n < rows; ++n)
        for (int head = sizes.first; head < all_heads; ++head)
          for (int i = 0; i < sizes.height; ++i)
            for (int j = 0; j < sizes.width; ++j) {
              const Token row = sizes.rows[static_cast<std::size_t>(n)];
              at(head / sizes.group - sizes.first_kv, i, j) +=
                  sizes.left(head, static_cast<double>(forward ? rows - 1 - n : n)) *
                  static_cast<double>(row_of(a, row, head)[i]) * static_cast<double>(row_of(b, row, head)[j]);
            }
      const HostTensor state = make_tensor(1, sizes.kv_heads, sizes.height * sizes.width);
      kernels->state_update({slice(a, sizes.rows, sizes.first, sizes.heads),
                             slice(b, sizes.rows, sizes.first, sizes.heads),
                             with_before ? slice(before, kStateRow, 0, sizes.kv_heads) : SliceView{},
                             slice(state, kStateRow, 0, sizes.kv_heads),
                             {sizes.first, sizes.first_kv, sizes.group},
                             decay});
      CHECK(relative_error(state.values, {expected.begin(), expected.end()}) < kTolerance);
    }
}

TEST_CASE("state apply: rows times the state, plain and transposed") {
  for (const KernelSet* kernels : supported_kernel_sets())
    for (const bool transposed : {false, true})
      for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(kernels->name, transposed, seed);
        Random random(seed);
        const Sizes sizes = random_sizes(random);
        const int all_heads = sizes.first + sizes.heads;
        const int in = transposed ? sizes.width : sizes.height;
        const int out_width = transposed ? sizes.height : sizes.width;
        const HostTensor x = random_values(random, sizes.tokens, all_heads, in);
        const HostTensor state = random_values(random, 1, sizes.kv_heads, sizes.height * sizes.width);
        std::vector<double> expected(static_cast<std::size_t>(sizes.tokens * all_heads * out_width));
        const auto rows = static_cast<Index>(sizes.rows.size());
        const RowDecay decay =
            random.one_in(2) ? RowDecay{sizes.rates_or_null(), 7, 1} : RowDecay{sizes.rates_or_null(), rows, -1};
        for (Index n = 0; n < rows; ++n)
          for (int head = sizes.first; head < all_heads; ++head)
            for (int i = 0; i < in; ++i)
              for (int j = 0; j < out_width; ++j) {
                const Token row = sizes.rows[static_cast<std::size_t>(n)];
                const int element = transposed ? j * sizes.width + i : i * sizes.width + j;
                expected[static_cast<std::size_t>((row * all_heads + head) * out_width + j)] +=
                    sizes.left(head, static_cast<double>(decay.first + n * decay.step)) *
                    static_cast<double>(row_of(x, row, head)[i]) *
                    static_cast<double>(row_of(state, 0, head / sizes.group - sizes.first_kv)[element]);
              }
        const HostTensor out = make_tensor(sizes.tokens, all_heads, out_width);
        kernels->state_apply({slice(x, sizes.rows, sizes.first, sizes.heads),
                              slice(state, kStateRow, 0, sizes.kv_heads),
                              slice(out, sizes.rows, sizes.first, sizes.heads),
                              transposed,
                              {sizes.first, sizes.first_kv, sizes.group},
                              decay});
        CHECK(relative_error(out.values, {expected.begin(), expected.end()}) < kTolerance);
      }
}

TEST_CASE("state sum: each term decays by its own distance, and one that is far enough leaves nothing") {
  const HostTensor first{1, 2, 2, {1, 2, 3, 4}};
  const HostTensor second{1, 2, 2, {10, 20, 30, 40}};
  const HostTensor third{1, 2, 2, {100, 200, 300, 400}};
  const HostTensor sum = make_tensor(1, 2, 2);
  const std::vector<SliceView> terms{slice(first, kStateRow, 0, 2), slice(second, kStateRow, 0, 2),
                                     slice(third, kStateRow, 0, 2)};
  const std::vector<float> rates{std::log(2.0f), 0.25f};
  const std::vector<Index> distances{2'000'000'000, 1, 0};
  sum_states({terms.data(), distances.data(), 3, slice(sum, kStateRow, 0, 2), rates.data()});
  const float left = std::exp(-0.25f);
  CHECK(relative_error(sum.values, {105, 210, 300 + 30 * left, 400 + 40 * left}) < 1e-6);
  sum_states({terms.data(), distances.data(), 3, slice(sum, kStateRow, 0, 2), nullptr});
  CHECK(sum.values == std::vector<float>{111, 222, 333, 444});
}

TEST_CASE("copy and add: touch the rows and heads of the slice and nothing else") {
  HostTensor from{3, 2, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  HostTensor into = make_tensor(4, 1, 2);
  const std::vector<Index> from_rows{0, 2};
  const std::vector<Index> into_rows{1, 3};
  copy_rows({slice(from, from_rows, 1, 1), slice(into, into_rows, 0, 1)});
  CHECK(into.values == std::vector<float>{0, 0, 3, 4, 0, 0, 11, 12});
  add_rows({slice(from, from_rows, 0, 1), slice(into, into_rows, 0, 1)});
  CHECK(into.values == std::vector<float>{0, 0, 4, 6, 0, 0, 20, 22});
}

TEST_CASE("merge: equal weights give the mean, a part without keys changes nothing, two such parts stay empty") {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  const std::vector<Index> rows{0, 1, 2, 3};
  HostTensor o{4, 1, 2, {1, 2, 3, 4, 0, 0, 0, 0}};
  HostTensor lse{4, 1, 1, {0, 5, kNone, kNone}};
  HostTensor from_o{4, 1, 2, {3, 6, 0, 0, 7, 8, 0, 0}};
  HostTensor from_lse{4, 1, 1, {0, kNone, 2, kNone}};
  merge_rows({slice(from_o, rows, 0, 1), slice(from_lse, rows, 0, 1), slice(o, rows, 0, 1), slice(lse, rows, 0, 1)});
  CHECK(o.values == std::vector<float>{2, 4, 3, 4, 7, 8, 0, 0});
  CHECK(lse.values[0] == Approx(std::log(2.0)));
  CHECK(lse.values[1] == 5);
  CHECK(lse.values[2] == 2);
  CHECK(lse.values[3] == kNone);
}
