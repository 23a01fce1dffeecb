// Bytes on the wire at one hand-computed point for every strategy: 32 query and 8 kv heads of 128, bf16, one document of
// 131,072 tokens on 16 ranks in nodes of 8. One rank's Q is 64 MiB, its K and V together 32 MiB.
// Also that no schedule spends less matrix work than the least. Wire dtypes: K, V, Q, O, d_o and d_q bf16; d_k, d_v fp32 in the
// rings, bf16 elsewhere unless asked; lse, delta and states fp32.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <variant>

#include "planner/ir/work.hpp"
#include "tests/conformance/problems.hpp"

namespace hsap {
namespace {

constexpr double kMiB = 1 << 20;
using test::kShapeAtThePoint;

Schedule lower_at_the_point(const std::string& strategy, Degrees degrees, const StrategyOptions& options = {}) {
  return find_strategy(strategy).lower(test::problem_on(kShapeAtThePoint, {0, 131072}, 16, 8), degrees, options);
}

/// Of all ranks together.
double total_sent(const Schedule& schedule, Phase phase) {
  const std::vector<double> sent = bytes_sent_by_rank(schedule, phase);
  return std::accumulate(sent.begin(), sent.end(), 0.0);
}

/// Sent by a rank to the other node.
double between_nodes(const Schedule& schedule, RankId rank, Phase phase) {
  double bytes = 0;
  for (const Op& op : ops_of(schedule.ranks[rank], phase))
    if (const auto* exchange = std::get_if<Exchange>(&op.body))
      for (const Message& message : exchange->sends)
        if (message.peer / 8 != rank / 8) bytes += bytes_of(schedule, rank, message);
  return bytes;
}

void require_mib_sent(const Schedule& schedule, double forward, double backward) {
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    CAPTURE(rank);
    CHECK(bytes_sent_by_rank(schedule, Phase::forward)[rank] == Approx(forward * kMiB).epsilon(1e-12));
    CHECK(bytes_sent_by_rank(schedule, Phase::backward)[rank] == Approx(backward * kMiB).epsilon(1e-12));
  }
}

TEST_CASE("ring: 15 hops of 32 MiB forward, backward again, and 16 hops of fp32 d_k, d_v") {
  require_mib_sent(lower_at_the_point("ring", {1, 16}), 480, 480 + 1024);
}

TEST_CASE("zigzag and stripe: the same bytes as ring") {
  require_mib_sent(lower_at_the_point("zigzag", {1, 16}), 480, 1504);
  require_mib_sent(lower_at_the_point("stripe", {1, 16}), 480, 1504);
}

TEST_CASE("rings: kept K and V are not sent again, d_k and d_v in bf16 cost half") {
  require_mib_sent(lower_at_the_point("ring", {1, 16}, {.kv = KvForBackward::kept}), 480, 1024);
  require_mib_sent(lower_at_the_point("ring", {1, 16}, {.kv = KvForBackward::again}), 480, 1504);
  require_mib_sent(lower_at_the_point("ring", {1, 16}, {.d_kv = DType::bf16}), 480, 480 + 512);
}

TEST_CASE("te-a2a-p2p: as many hops of gradients as of K and V, in bf16") {
  require_mib_sent(lower_at_the_point("te-a2a-p2p", {1, 16}), 480, 960);
  require_mib_sent(lower_at_the_point("te-a2a-p2p", {8, 2}), 140 + 32, 140 + 64);
}

TEST_CASE("double-ring, 2 windows of 8: 14 hops inside and 1 across, gradients 8 hops in fp32, 8 in bf16, 2 across") {
  require_mib_sent(lower_at_the_point("double-ring", {1, 16}), 448 + 32, 448 + 512 + 256 + 32 + 64);
  require_mib_sent(lower_at_the_point("double-ring", {1, 16}, {.window = 8}), 448 + 32, 448 + 768 + 96);
  require_mib_sent(lower_at_the_point("double-ring", {1, 16}, {.window = 16}), 480, 480 + 1024);  // the flat zigzag ring
  const Schedule windows_of_8 = lower_at_the_point("double-ring", {1, 16});
  for (RankId rank = 0; rank < 16; ++rank) CHECK(between_nodes(windows_of_8, rank, Phase::forward) == 32 * kMiB);
}

TEST_CASE("burst: backward moves q, d_o, lse, delta 15 hops and d_q 16") {
  require_mib_sent(lower_at_the_point("burst", {1, 16}), 480, 15 * (2 * 64 + 2 * 1) + 16 * 64);
}

TEST_CASE("wlb: K and V gathered once, their gradients reduce-scattered, placement changes nothing") {
  const std::string placement = GENERATE("per-document", "per-sequence");
  require_mib_sent(lower_at_the_point("wlb", {1, 16}, {.placement = placement}), 480, 480);
  require_mib_sent(lower_at_the_point("wlb", {1, 16}, {.placement = placement, .kv = KvForBackward::again}), 480, 960);
}

TEST_CASE(
    "megatron-sp: activations gathered and reduce-scattered, (P-1) Qb each, and K, V of a rank's heads from their owners") {
  require_mib_sent(lower_at_the_point("megatron-sp", {16, 1}), 2 * 15 * 64 + 60, 2 * 15 * 64 + 60);
  require_mib_sent(lower_at_the_point("megatron-sp", {16, 1}, {.kv = KvForBackward::again}), 2 * 15 * 64 + 60,
                   2 * 15 * 64 + 60 + 15 * 64 + 60);
}

TEST_CASE("hybrid-cp: one document over all ranks costs what zigzag costs, documents of a rank's share cost nothing") {
  require_mib_sent(lower_at_the_point("hybrid-cp", {1, 16}), 480, 1504);
  const Problem short_ones = test::problem_on(kShapeAtThePoint, test::offsets_of(std::vector<Token>(32, 4096)), 16, 8);
  require_mib_sent(find_strategy("hybrid-cp").lower(short_ones, {1, 16}), 0, 0);
  // Two documents of half the pack: rings of 8, 7 hops of twice the block.
  const Problem halves = test::problem_on(kShapeAtThePoint, {0, 65536, 131072}, 16, 8);
  require_mib_sent(find_strategy("hybrid-cp").lower(halves, {1, 16}), 7 * 32, 7 * 32 + 8 * 64);
}

TEST_CASE("zeppelin: every NIC of a node carries an eighth of each hop between nodes") {
  const Schedule schedule = lower_at_the_point("zeppelin", {1, 16});
  for (RankId rank = 0; rank < 16; ++rank) {
    CHECK(between_nodes(schedule, rank, Phase::forward) == 15 * 32 / 8 * kMiB);
    CHECK(between_nodes(schedule, rank, Phase::backward) == (15 * 32 + 16 * 64) / 8 * kMiB);
  }
  // Inside a node: 14 ranks pass 15 blocks on; the last one deals 7/8 of them out, and the others hand their shares on.
  CHECK(total_sent(schedule, Phase::forward) == (14 * 15 * 32 + 2 * 15 * 32 * (1 + 2 * 7.0 / 8)) * kMiB);
}

TEST_CASE("ulysses with ragged heads: all ranks together send what every head costs once on each rank that reads it") {
  AttentionShape shape = kShapeAtThePoint;
  shape.query_heads = shape.kv_heads = 28;
  Problem problem = test::problem_on(shape, {0, 131072}, 8, 8);
  problem.ragged_heads = true;
  const double q_of_all = 131072.0 * 28 * 128 * 2;
  CHECK(total_sent(find_strategy("ulysses").lower(problem, {8, 1}), Phase::forward) == Approx(4 * q_of_all * 7 / 8));
}

TEST_CASE("allgather: 15 x 32 MiB forward, gathered again, unless kept, and reduce-scattered in bf16 backward") {
  require_mib_sent(lower_at_the_point("allgather", {1, 16}), 480, 960);
  require_mib_sent(lower_at_the_point("allgather", {1, 16}, {.kv = KvForBackward::kept}), 480, 480);
}

TEST_CASE("ulysses: 15/16 of q, o and of k, v replicated twice, each way") {
  require_mib_sent(lower_at_the_point("ulysses", {16, 1}), 180, 180);
}

TEST_CASE("usp 8x2: all-to-all of 140 MiB, one hop of 32 MiB, backward 32 MiB of KV and two fp32 hops") {
  require_mib_sent(lower_at_the_point("usp", {8, 2}), 140 + 32, 140 + 160);
}

TEST_CASE("hsap 16x1 sends what ulysses sends, and all ranks together never more than usp at the same degrees") {
  require_mib_sent(lower_at_the_point("hsap", {16, 1}), 180, 180);
  for (const Degrees degrees : {Degrees{1, 16}, Degrees{2, 8}, Degrees{8, 2}})
    for (const Phase phase : {Phase::forward, Phase::backward})
      CHECK(total_sent(lower_at_the_point("hsap", degrees), phase) <= total_sent(lower_at_the_point("usp", degrees), phase));
}

TEST_CASE("needed-only: a document that starts 1,293 tokens before a shard's edge costs 5.05 MiB, and as much backward") {
  std::vector<Token> offsets{0};
  for (Token edge = 8192; edge < 131072; edge += 8192) offsets.push_back(edge - 1293);
  offsets.push_back(131072);
  const Schedule schedule = find_strategy("hsap").lower(test::problem_on(kShapeAtThePoint, offsets, 16, 8), {1, 16},
                                                        {.placement = "contiguous", .stages = 1});
  const double bytes = 1293 * 4096;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const std::vector<double> sent = bytes_sent_by_rank(schedule, phase);
    for (RankId rank = 1; rank < 15; ++rank) CHECK(sent[rank] == bytes);
    CHECK(sent[phase == Phase::forward ? 15 : 0] == 0);  // nobody is behind the last rank, nobody before the first
  }
}

TEST_CASE("distflashattn: keys to ranks up to 8 behind, queries to ranks more than 8 before, and outputs back") {
  const auto kv = GENERATE(KvForBackward::kept, KvForBackward::again);
  const Schedule schedule = lower_at_the_point("distflashattn", {1, 16}, {.placement = {}, .kv = kv});
  const double again = kv == KvForBackward::again ? 1 : 0;
  const std::vector<double> forward = bytes_sent_by_rank(schedule, Phase::forward);
  const std::vector<double> backward = bytes_sent_by_rank(schedule, Phase::backward);
  for (int rank = 0; rank < 16; ++rank) {
    const int lends = std::min(8, 15 - rank), borrows = std::min(8, rank);            // keys, to and from how many ranks
    const int is_helped = std::max(0, rank - 8), helps = std::max(0, 15 - rank - 8);  // by and with how many ranks' queries
    CAPTURE(rank);
    CHECK(forward[static_cast<RankId>(rank)] == (lends * 32 + is_helped * 64 + helps * (64 + 1)) * kMiB);
    CHECK(backward[static_cast<RankId>(rank)] ==
          (borrows * 32 + is_helped * (64 + 2) + helps * 64 + again * (lends * 32 + is_helped * 64)) * kMiB);
  }
  CHECK(total_sent(schedule, Phase::forward) == (92 * 32 + 28 * (2 * 64 + 1)) * kMiB);
  CHECK(total_sent(schedule, Phase::backward) == (92 * 32 + 28 * (2 * 64 + 2) + again * (92 * 32 + 28 * 64)) * kMiB);
}

TEST_CASE("hsap with queries moving: q there, o and lse back, d_o, lse and delta there, d_q back, q again when not kept") {
  const auto kv = GENERATE(KvForBackward::kept, KvForBackward::again);
  const Schedule schedule = lower_at_the_point("hsap", {1, 16}, {.placement = "contiguous", .kv = kv, .moving = Moving::q});
  const double again = kv == KvForBackward::again ? 1 : 0;
  for (int rank = 0; rank < 16; ++rank) {  // its queries see the keys of all ranks before it
    const int before = rank, behind = 15 - rank;
    CAPTURE(rank);
    CHECK(bytes_sent_by_rank(schedule, Phase::forward)[static_cast<RankId>(rank)] == (before * 64 + behind * (64 + 1)) * kMiB);
    CHECK(bytes_sent_by_rank(schedule, Phase::backward)[static_cast<RankId>(rank)] ==
          (before * (64 + 2 + again * 64) + behind * 64) * kMiB);
  }
}

TEST_CASE("tiles on two nodes: keys cross along columns, queries visit their node there and back, all ranks work alike") {
  const auto kv = GENERATE(KvForBackward::kept, KvForBackward::again);
  const Schedule schedule = lower_at_the_point("hsap", {1, 16}, {.placement = "zigzag", .kv = kv, .moving = Moving::tiles});
  const double again = kv == KvForBackward::again ? 1 : 0;
  for (RankId rank = 0; rank < 16; ++rank) {
    // Node 0 holds the first and the last quarter. Its first quarter sees no key of node 1, and only those of lower columns in
    // node 0; all other queries see some key in every column. Node 1 sees no key of the last quarter.
    const int column = static_cast<int>(rank % 8);
    const bool outer = rank < 8;
    const double visits = outer ? column + (7 - column) / 2.0 : 7;    // in units of all its queries
    const double visited = outer ? (7 - column) + column / 2.0 : 7;   // by its node
    const double lends = outer ? 16 : 32, borrows = outer ? 32 : 16;  // keys
    CAPTURE(rank);
    CHECK(bytes_sent_by_rank(schedule, Phase::forward)[rank] == (visits * 64 + visited * (64 + 1) + lends) * kMiB);
    CHECK(bytes_sent_by_rank(schedule, Phase::backward)[rank] ==
          (visits * (64 + 2) + visited * 64 + borrows + again * (visits * 64 + lends)) * kMiB);
    CHECK(between_nodes(schedule, rank, Phase::forward) == lends * kMiB);
    double flops = 0;
    for (const Op& op : schedule.ranks[rank].forward) flops += flops_of(schedule, rank, op.body);
    CHECK(flops == Approx(least_flops(schedule.shape, schedule.mask, Phase::forward) / 16).epsilon(1e-3));
  }
}

/// Keys that ranks need of others, of all ranks together.
double needed_keys(const Schedule& schedule) {
  Token needed = 0;
  for (const RankProgram& program : schedule.ranks) {
    const TokenSet& own = schedule.tokens(program.tokens);
    needed += difference(schedule.mask.keys_seen_by(own), own).size();
  }
  return static_cast<double>(needed);
}

TEST_CASE("blockdiag, magi and hsap, direct, send each needed key once to each rank that needs it, and its gradients back") {
  const std::uint64_t seed = GENERATE(61, 62, 63);
  CAPTURE(seed);
  std::vector<Token> offsets = test::random_offsets(seed, 3000);
  offsets.push_back(offsets.back() + 2000);  // too long for one rank
  const Problem problem = test::problem_on(kShapeAtThePoint, offsets, 16, 8);
  const double kv = 4096, fp32 = 2;  // bytes of a key and value; fp32 gradients are twice as wide
  for (const std::string strategy : {"blockdiag", "magi", "hsap"}) {
    CAPTURE(strategy);
    const auto lower = [&](StrategyOptions options) {
      if (strategy == "hsap") options.exchange = KvRoute::direct;
      return find_strategy(strategy).lower(problem, {1, 16}, options);
    };
    const Schedule schedule = lower({});
    CHECK(needed_keys(schedule) > 0);
    CHECK(total_sent(schedule, Phase::forward) == needed_keys(schedule) * kv);
    CHECK(total_sent(schedule, Phase::backward) == needed_keys(schedule) * kv);
    CHECK(total_sent(lower({.placement = {}, .d_kv = DType::fp32}), Phase::backward) == needed_keys(schedule) * kv * fp32);
    if (strategy == "blockdiag") continue;
    const Schedule again = lower({.placement = {}, .kv = KvForBackward::again});
    CHECK(total_sent(again, Phase::forward) == needed_keys(schedule) * kv);
    CHECK(total_sent(again, Phase::backward) == needed_keys(schedule) * kv * 2);
  }
}

TEST_CASE(
    "blockdiag: with contiguous shards a rank needs the tokens between the start of a document and the rank's first token") {
  const std::uint64_t seed = GENERATE(71, 72);
  CAPTURE(seed);
  const Problem problem = test::problem_on(kShapeAtThePoint, test::random_offsets(seed, 3000), 16, 8);
  const Schedule schedule = find_strategy("blockdiag").lower(problem, {1, 16});
  Token needed = 0;
  for (Token rank = 1; rank < 16; ++rank) {
    const Token edge = rank * problem.mask.tokens() / 16;
    needed += edge - problem.mask.document(problem.mask.document_of(edge)).begin;
  }
  CHECK(total_sent(schedule, Phase::forward) == static_cast<double>(needed) * 4096);
  for (const RankProgram& program : schedule.ranks)  // one exchange, nothing hidden
    CHECK(std::count_if(program.forward.begin(), program.forward.end(),
                        [](const Op& op) { return std::holds_alternative<Exchange>(op.body); }) <= 1);
}

TEST_CASE("dcp sends less than magi on a pack of many short and a few long documents") {
  std::vector<Token> lengths(300, 400);
  lengths.insert(lengths.end(), {30000, 20000, 12000});
  const Problem problem = test::problem_on(kShapeAtThePoint, test::offsets_of(lengths), 16, 8);
  const Schedule dcp = find_strategy("dcp").lower(problem, {1, 16});
  const Schedule magi = find_strategy("magi").lower(problem, {1, 16});
  for (const Phase phase : {Phase::forward, Phase::backward}) CHECK(2 * total_sent(dcp, phase) < total_sent(magi, phase));
}

TEST_CASE("lasp: one fp32 state of kv_heads x qk_dim x v_dim per boundary that a document straddles, whatever the length") {
  AttentionShape shape = kShapeAtThePoint;
  shape.kind = AttentionKind::linear;
  shape.kv_heads = GENERATE(8, 32);  // 32: as published, a state per head
  const double hop = shape.kv_heads * 128.0 * 128.0 * 4;
  const Strategy& lasp = find_strategy("lasp");
  const Schedule one = lasp.lower(test::problem_on(shape, {0, 131072}, 16, 8), {1, 16});
  for (RankId rank = 0; rank < 16; ++rank) {
    CHECK(bytes_sent_by_rank(one, Phase::forward)[rank] == (rank < 15 ? hop : 0));
    CHECK(bytes_sent_by_rank(one, Phase::backward)[rank] == (rank > 0 ? hop : 0));
  }
  std::vector<Token> aligned;
  for (Token offset = 0; offset <= 131072; offset += 8192) aligned.push_back(offset);
  const Schedule none = lasp.lower(test::problem_on(shape, aligned, 16, 8), {1, 16});
  for (const double sent : bytes_sent_by_rank(none, Phase::forward)) CHECK(sent == 0);
}

/// The shape at the point as linear attention; one of its states takes 512 KiB.
AttentionShape linear_shape() {
  AttentionShape shape = kShapeAtThePoint;
  shape.kind = AttentionKind::linear;
  return shape;
}
constexpr double kState = 8 * 128.0 * 128.0 * 4;

TEST_CASE("lasp2: each rank's state once to every later rank that its document reaches, half of the published all-gather") {
  const Strategy& lasp2 = find_strategy("lasp2");
  const Schedule one = lasp2.lower(test::problem_on(linear_shape(), {0, 131072}, 16, 8), {1, 16});
  double total = 0;
  for (RankId rank = 0; rank < 16; ++rank) {
    CHECK(bytes_sent_by_rank(one, Phase::forward)[rank] == (15 - rank) * kState);
    CHECK(bytes_sent_by_rank(one, Phase::backward)[rank] == rank * kState);
    total += bytes_sent_by_rank(one, Phase::forward)[rank];
  }
  CHECK(total == 16 * 15 * kState / 2);

  // Documents of two and a half shards: the first reaches ranks 0 to 2, the second 2 to 4.
  const Schedule many = lasp2.lower(test::problem_on(linear_shape(), {0, 20480, 40960, 131072}, 16, 8), {1, 16});
  const std::vector<double> sent = bytes_sent_by_rank(many, Phase::forward);
  CHECK(std::vector<double>(sent.begin(), sent.begin() + 5) == std::vector<double>{2 * kState, kState, 2 * kState, kState, 0});
  CHECK(sent[5] == 10 * kState);
}

TEST_CASE("zeco: the bytes of lasp, whatever the number of blocks") {
  const Strategy& zeco = find_strategy("zeco");
  const std::vector<Token> offsets = GENERATE(std::vector<Token>{0, 131072}, std::vector<Token>{0, 20480, 40960, 131072});
  const Problem problem = test::problem_on(linear_shape(), offsets, 16, 8);
  const Schedule lasp = find_strategy("lasp").lower(problem, {1, 16});
  const std::vector<StrategyOptions> variants = zeco.variants(problem, {1, 16});
  REQUIRE(variants.size() == 4);  // 1, 2, 4 and 8 blocks of the 8 kv heads
  for (const StrategyOptions& options : variants)
    for (const Phase phase : {Phase::forward, Phase::backward})
      CHECK(bytes_sent_by_rank(zeco.lower(problem, {1, 16}, options), phase) == bytes_sent_by_rank(lasp, phase));
  CHECK(zeco.lower(problem, {1, 16}) == zeco.lower(problem, {1, 16}, variants.back()));
  CHECK_THROWS_WITH(zeco.lower(problem, {1, 16}, {.placement = {}, .stages = 3}),
                    "3 stages do not divide the state's 8 kv heads; stages that do: 1, 2, 4, 8");
}

TEST_CASE("no strategy spends less matrix work than the least, also where shards are short and states replace most pairs") {
  const std::uint64_t seed = GENERATE(51, 52);
  CAPTURE(seed);
  AttentionShape shape = kShapeAtThePoint;
  shape.kind = GENERATE(AttentionKind::softmax, AttentionKind::linear);
  for (const std::vector<Token>& offsets :
       {test::random_offsets(seed, 2000), test::offsets_of({200}), test::offsets_of({1600})}) {
    const Problem problem = test::problem_on(shape, offsets, 8, 8);
    for (const test::Choice& choice : test::choices_for(problem)) {
      INFO(choice.describe());
      const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
      for (const Phase phase : {Phase::forward, Phase::backward}) {
        double spent = 0;
        for (RankId rank = 0; rank < schedule.ranks.size(); ++rank)
          for (const Op& op : ops_of(schedule.ranks[rank], phase)) spent += flops_of(schedule, rank, op.body);
        CHECK(least_flops(shape, problem.mask, phase) <= spent * (1 + 1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace hsap
