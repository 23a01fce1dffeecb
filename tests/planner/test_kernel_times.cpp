// KernelTimes: never beats its own bound, falls with short documents and few heads as measured GPUs do, says where it is from.
#include "planner/cost/kernel_times.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "planner/ir/work.hpp"
#include "tests/mask_rules.hpp"
#include "tests/planner/attention_rows.hpp"

using namespace hsap;
using namespace hsap::test;
using Catch::Matchers::Contains;

namespace {

double seconds(const KernelTimes& kernels, const Schedule& schedule, Phase phase) {
  return kernels.seconds(schedule, 0, ops_of(schedule.ranks[0], phase)[0]);
}

double flops(const Schedule& schedule, Phase phase) { return flops_of(schedule, 0, ops_of(schedule.ranks[0], phase)[0].body); }

/// The same documents without a mask: the later half of twice as long ones against the earlier half.
Schedule unmasked(AttentionRow row) {
  row.length *= 2;
  Schedule schedule = attention_of(row);
  std::vector<TokenRange> earlier, later;
  for (std::size_t d = 0; d < schedule.mask.documents(); ++d) {
    const TokenRange document = schedule.mask.document(d);
    earlier.push_back({document.begin, document.begin + row.length / 2});
    later.push_back({document.begin + row.length / 2, document.end});
  }
  schedule.token_sets = {TokenSet{}, TokenSet(later), TokenSet(earlier)};
  const auto attend_earlier = [](auto& op) { op.k.tokens = op.v.tokens = 2; };
  attend_earlier(std::get<Attend>(schedule.ranks[0].forward[0].body));
  AttendBackward& backward = std::get<AttendBackward>(schedule.ranks[0].backward[0].body);
  attend_earlier(backward);
  backward.d_k.tokens = backward.d_v.tokens = 2;
  return schedule;
}

/// As benchmarks print it: FLOPs of the pairs over the time.
double tflops(const KernelTimes& kernels, const AttentionRow& row, Phase phase = Phase::forward) {
  const Schedule schedule = attention_of(row);
  return flops(schedule, phase) / seconds(kernels, schedule, phase) / 1e12;
}

struct Measured {
  AttentionRow row;
  double tflops;
};

Token draw(std::mt19937& random, Token below) { return static_cast<Token>(random()) % below; }

TokenSet random_set(std::mt19937& random, Token tokens) {
  std::vector<TokenRange> ranges;
  for (Token i = 1 + draw(random, 4); i > 0; --i) {
    const Token begin = draw(random, tokens);
    ranges.push_back({begin, std::min(tokens, begin + 1 + draw(random, 3000))});
  }
  return TokenSet(std::move(ranges));
}

}  // namespace

TEST_CASE("short documents: FLOP/s fall as measured on H100 and A100") {
  // 16,384 tokens in documents of one length, 32 / 8 heads of 128, bf16, causal: NVIDIA aiconfigurator, SGLang 0.5.14 (H100),
  // 0.5.10 (A100).
  const KernelTimes on_h100(h100()), on_a100(a100());
  for (const auto& [length, h, a] : std::initializer_list<std::tuple<Token, double, double>>{{16384, 618, 198},
                                                                                             {8192, 592, 197},
                                                                                             {4096, 504, 187},
                                                                                             {2048, 465, 175},
                                                                                             {1024, 357, 154},
                                                                                             {512, 233, 124},
                                                                                             {256, 144, 85},
                                                                                             {128, 76, 49}}) {
    CAPTURE(length);
    const AttentionRow row{static_cast<int>(16384 / length), length};
    CHECK(tflops(on_h100, row) == Approx(h).epsilon(0.17));
    CHECK(tflops(on_a100, row) == Approx(a).epsilon(0.17));
  }
}

TEST_CASE("few heads: one document does not fill the GPU, as measured on H100") {
  const KernelTimes kernels(h100());
  CHECK(tflops(kernels, {1, 4096, 8, 1}) == Approx(466).epsilon(0.15));
  CHECK(tflops(kernels, {4, 4096, 32, 8}) == Approx(504).epsilon(0.15));
  CHECK(tflops(kernels, {1, 1024, 8, 1}) == Approx(89).epsilon(0.15));
  CHECK(tflops(kernels, {1, 1024, 32, 8}) == Approx(292).epsilon(0.15));
}

TEST_CASE("backward: published rows without a mask, none of which was fitted") {
  // MagiAttention's kernel benchmark: FlashAttention-3 on H100, backward.
  const KernelTimes on_h100(h100());
  for (const auto& [length, published] : std::initializer_list<std::pair<Token, double>>{
           {1024, 334.5}, {4096, 516.7}, {8192, 555.6}, {16384, 586.9}, {32768, 600.6}}) {
    CAPTURE(length);
    const Schedule schedule = unmasked({1, length, 64, 8});
    CHECK(flops(schedule, Phase::backward) / seconds(on_h100, schedule, Phase::backward) / 1e12 ==
          Approx(published).epsilon(0.06));
  }
  // FlashAttention-2's chart: A100, forward and backward together, 16,384 tokens, 2,048 / head size heads.
  const KernelTimes on_a100(a100());
  for (const auto& [head_dim, length, published] : std::initializer_list<std::tuple<int, Token, double>>{
           {64, 512, 132}, {64, 1024, 153}, {64, 4096, 171}, {128, 2048, 187}, {128, 8192, 201}, {128, 16384, 203}}) {
    CAPTURE(head_dim, length);
    const int heads = 2048 / head_dim;
    const Schedule schedule = unmasked({static_cast<int>(16384 / length), length, heads, heads, head_dim});
    const double both = seconds(on_a100, schedule, Phase::forward) + seconds(on_a100, schedule, Phase::backward);
    CHECK((flops(schedule, Phase::forward) + flops(schedule, Phase::backward)) / both / 1e12 ==
          Approx(published).epsilon(0.06));
  }
}

TEST_CASE("no attention is faster than the bound, and one long document comes near it") {
  const unsigned seed = GENERATE(1U, 2U, 3U);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const KernelTimes kernels(seed % 2 == 0 ? a100() : h100());
  for (int i = 0; i < 150; ++i) {
    const int kv_heads = 1 + static_cast<int>(draw(random, 4)), group = 1 + static_cast<int>(draw(random, 9));
    Schedule schedule = attention_of({1 + static_cast<int>(draw(random, 6)), 1 + draw(random, 5000), kv_heads * group, kv_heads,
                                      32 * (1 + static_cast<int>(draw(random, 8)))});
    schedule.shape.v_dim = 32 * (1 + static_cast<int>(draw(random, 8)));
    if (draw(random, 3) == 0)
      schedule.shape.mask = test::rule_of_kind(static_cast<int>(draw(random, test::kRuleKinds)), 1 + draw(random, 2000),
                                               1 + draw(random, 2000), 1 + draw(random, 8));
    if (draw(random, 3) == 0) schedule.shape.kind = AttentionKind::linear;
    schedule.mask = DocumentMask(schedule.mask.offsets(), schedule.shape.mask);
    schedule.token_sets = {TokenSet{}, random_set(random, schedule.mask.tokens()), random_set(random, schedule.mask.tokens())};
    const auto attend_some = [](auto& op) { op.k.tokens = op.v.tokens = 2; };
    attend_some(std::get<Attend>(schedule.ranks[0].forward[0].body));
    attend_some(std::get<AttendBackward>(schedule.ranks[0].backward[0].body));
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      CAPTURE(i, to_string(phase), kv_heads, group);
      CHECK(seconds(kernels, schedule, phase) >=
            flops(schedule, phase) / kernels.best_attention_flops_per_second(0, schedule.shape, phase));
    }
  }
  const AttentionRow one_long{1, 262144, 32, 8};
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const double best = kernels.best_attention_flops_per_second(0, attention_of(one_long).shape, phase) / 1e12;
    CHECK(tflops(kernels, one_long, phase) <= best);
    CHECK(tflops(kernels, one_long, phase) >= 0.97 * best);
  }
}

TEST_CASE("best rates are those published for long documents") {
  // FA3 paper, H100, 16k, no mask: 497 (head size 64), 648 (128), 746 (256, 8k); backward 474, 561. A100: measured 207, FA2
  // paper 230 without mask.
  const KernelTimes on_h100(h100()), on_a100(a100());
  const auto best = [](const KernelTimes& kernels, int head_dim, Phase phase) {
    return kernels.best_attention_flops_per_second(0, attention_of({1, 128, 8, 8, head_dim}).shape, phase) / 1e12;
  };
  CHECK(best(on_h100, 64, Phase::forward) == Approx(497).epsilon(0.05));
  CHECK(best(on_h100, 128, Phase::forward) == Approx(648).epsilon(0.05));
  CHECK(best(on_h100, 256, Phase::forward) == Approx(746).epsilon(0.05));
  CHECK(best(on_h100, 64, Phase::backward) == Approx(474).epsilon(0.08));
  CHECK(best(on_h100, 128, Phase::backward) == Approx(561).epsilon(0.08));
  CHECK(best(on_a100, 128, Phase::forward) == Approx(212).epsilon(0.03));
}

TEST_CASE("ring passes: keys of other documents or of later tokens cost no tiles") {
  const KernelTimes kernels(h100());
  Schedule schedule = attention_of({2, 65536});
  schedule.token_sets.push_back(TokenSet{{0, 65536}});
  schedule.token_sets.push_back(TokenSet{{65536, 131072}});
  Attend& attend = std::get<Attend>(schedule.ranks[0].forward[0].body);
  attend.q.tokens = attend.o.tokens = attend.lse->tokens = 3;
  attend.k.tokens = attend.v.tokens = 3;
  const double own_document = seconds(kernels, schedule, Phase::forward);
  attend.k.tokens = attend.v.tokens = 2;
  const double other_document = seconds(kernels, schedule, Phase::forward);
  CHECK(other_document < 0.05 * own_document);  // writing o = 0 and reading the slices is left
}

TEST_CASE("ops without rows take no time, since nothing is launched") {
  const KernelTimes kernels(h100());
  Schedule schedule = attention_of({1, 1024});
  Attend& attend = std::get<Attend>(schedule.ranks[0].forward[0].body);
  attend.q.tokens = attend.o.tokens = attend.lse->tokens = 0;
  CHECK(seconds(kernels, schedule, Phase::forward) == 0);
  const Slice none{3, 0, {0, 32}}, all{3, 1, {0, 32}};
  CHECK(kernels.seconds(schedule, 0, {0, 0, 0, {}, Copy{{{none, none}}}}) == 0);
  CHECK(kernels.seconds(schedule, 0, {0, 0, 0, {}, Accumulate{{{none, none}, {all, all}}}}) > 0);
}

TEST_CASE("a sum of states moves its terms and its result at the speed of memory") {
  const KernelTimes kernels(h100());
  Schedule schedule = attention_of({1, 4096});
  schedule.shape.kind = AttentionKind::linear;
  const auto state = static_cast<BufferId>(schedule.ranks[0].buffers.size());
  schedule.ranks[0].buffers.push_back({Role::state, DType::fp32, 1, {0, 32}, "state"});
  const Slice term{state, 1, {0, 32}};
  const double bytes = 32.0 * 128 * 128 * 4;
  const auto sum_of = [&](std::size_t terms) {
    return kernels.seconds(schedule, 0, {0, 0, 0, {}, StateSum{std::vector<Slice>(terms, term), term}});
  };
  CHECK(sum_of(15) - sum_of(2) == Approx(13 * bytes / 3.35e12 / 0.85).epsilon(0.01));
  CHECK(sum_of(2) > 3 * bytes / 3.35e12);
}

TEST_CASE("merge, accumulate and copy move their bytes at the speed of memory") {
  const KernelTimes kernels(h100());
  const Schedule schedule = attention_of({1, 1 << 20});
  const Slice o{3, 1, {0, 32}}, lse{4, 1, {0, 32}};
  const double o_bytes = 1024.0 * 1024 * 32 * 128 * 2;
  CHECK(kernels.seconds(schedule, 0, {0, 0, 0, {}, Copy{{{o, o}}}}) == Approx(2 * o_bytes / 3.35e12 / 0.85).epsilon(0.01));
  CHECK(kernels.seconds(schedule, 0, {0, 0, 0, {}, Accumulate{{{o, o}}}}) ==
        Approx(3 * o_bytes / 3.35e12 / 0.85).epsilon(0.01));
  const double merge = kernels.seconds(schedule, 0, {0, 0, 0, {}, Merge{o, lse, o, lse}});
  CHECK(merge >= 3 * o_bytes / 3.35e12);
  CHECK(merge <= 4 * o_bytes / 3.35e12);
}

TEST_CASE("devices that were not measured are scaled by peak and multiprocessors, and say so") {
  const auto kernels = [](const std::string& file) {
    return KernelTimes(ClusterTopology::read(HSAP_SOURCE_DIR "/topologies/" + file).take_first(1));
  };
  CHECK_THAT(KernelTimes(h100()).provenance(), Contains("H100 SXM: forward fitted to") && Contains("aiconfigurator"));
  CHECK_THAT(KernelTimes(a100()).provenance(), Contains("A100 SXM 80GB: forward fitted to"));
  CHECK_THAT(kernels("h20.yaml").provenance(), Contains("H20: attention assumed: constants of H100 FlashAttention-3"));
  CHECK_THAT(kernels("rtx4090-pcie-8.yaml").provenance(), Contains("assumed: constants of A100 FlashAttention-2"));
  CHECK_THAT(KernelTimes(h100("Somebody's GPU")).provenance(), Contains("Somebody's GPU: attention assumed"));
  const AttentionRow row{1, 65536};
  CHECK(tflops(kernels("h20.yaml"), row) < 148);
  CHECK(tflops(kernels("h20.yaml"), row) > 0.7 * 148);
  CHECK(tflops(kernels("l20-pcie-8.yaml"), row) < 119.5);
  CHECK(tflops(kernels("gb200-nvl72.yaml"), row) > tflops(KernelTimes(h100()), row));
}

TEST_CASE("at a constant rate time is matrix work over the rate, whatever the shape, and nothing else takes any") {
  const double rate = 4e14;
  const KernelTimes kernels = KernelTimes::at_constant_rate(rate);
  for (const AttentionRow& row :
       {AttentionRow{1, 1}, AttentionRow{100, 7}, AttentionRow{1, 65536}, AttentionRow{3, 500, 5, 1, 64}})
    for (const Phase phase : {Phase::forward, Phase::backward}) {
      const Schedule schedule = attention_of(row);
      CAPTURE(row.documents, row.length, to_string(phase));
      CHECK(seconds(kernels, schedule, phase) == Approx(flops(schedule, phase) / rate).epsilon(1e-12));
    }
  const Schedule schedule = attention_of({1, 1 << 20});
  const Slice o{3, 1, {0, 32}};
  CHECK(kernels.seconds(schedule, 0, {0, 0, 0, {}, Copy{{{o, o}}}}) == 0);
  CHECK(kernels.best_attention_flops_per_second(511, schedule.shape, Phase::forward) == rate);
  CHECK(kernels.linear_seconds_per_token(511, 218.1e6, DType::bf16, Phase::forward) == Approx(2 * 218.1e6 / rate));
  CHECK(kernels.linear_seconds_per_token(511, 218.1e6, DType::bf16, Phase::backward) == Approx(4 * 218.1e6 / rate));
  CHECK_THAT(kernels.provenance(), Contains("400 TFLOP/s") && Contains("assumed"));
}

TEST_CASE("a schedule of 1M tokens on 512 ranks: all kernel times in well under a second") {
  // Every rank attends its 2,048 rows, in pieces, to the keys of each rank in turn: what a zigzag ring does.
  constexpr int kRanks = 512;
  std::vector<Token> offsets{0};
  std::mt19937 random(7);
  while (offsets.back() < (1 << 20))
    offsets.push_back(std::min<Token>(
        1 << 20, offsets.back() + 1 + draw(random, 1) + (draw(random, 50) == 0 ? draw(random, 100000) : draw(random, 3000))));
  Schedule schedule = attention_of({1, 1 << 20});
  schedule.mask = DocumentMask(offsets);
  for (int i = 0; i < kRanks; ++i)
    schedule.token_sets.push_back(TokenSet{{i * 1024, (i + 1) * 1024}, {(2 * kRanks - 1 - i) * 1024, (2 * kRanks - i) * 1024}});
  const KernelTimes kernels(h100());
  const auto start = std::chrono::steady_clock::now();
  double total = 0;
  Attend& attend = std::get<Attend>(schedule.ranks[0].forward[0].body);
  for (TokenSetId q = 2; q < 2 + kRanks; ++q)
    for (TokenSetId k = 2; k < 2 + kRanks; ++k) {
      attend.q.tokens = attend.o.tokens = attend.lse->tokens = q;
      attend.k.tokens = attend.v.tokens = k;
      total += seconds(kernels, schedule, Phase::forward);
    }
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(total > 0);
  INFO(elapsed << " s for " << kRanks * kRanks << " attentions");
  CHECK(elapsed < 3);  // 0.1 s on a quiet core; wide, for busy and sanitised machines
}
