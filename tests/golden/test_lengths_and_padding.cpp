// Reports A: lengths that degrees do not divide, padding, cu_seqlens. hsap pads nothing: shares differ by a token where they
// must. (A20, compressed attention, is refused with C13 and C14 in test_masks_and_state.cpp.)
#include <algorithm>

#include "planner/inputs/document_lengths.hpp"
#include "tests/golden/reports.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::offsets_of;
using test::problem_on;
using test::small_layer;

bool has_remark(const LengthSource& source, const std::string& text) {
  return std::any_of(source.remarks.begin(), source.remarks.end(),
                     [&](const std::string& remark) { return remark.find(text) != std::string::npos; });
}

/// Every choice on one document is proved.
void require_proved(Token tokens, int ranks) {
  const Problem problem = problem_on(small_layer(), {0, tokens}, ranks, ranks);
  for (const test::Choice& choice : test::choices_for(problem)) {
    INFO(choice.describe() << " on " << ranks << " ranks, " << tokens << " tokens");
    test::proved(choice, problem);
  }
}

std::vector<Token> sorted_shares(const std::string& strategy, const Problem& problem, const Degrees& degrees) {
  std::vector<Token> shares = test::shares_of(find_strategy(strategy).lower(problem, degrees));
  std::sort(shares.begin(), shares.end());
  return shares;
}

TEST_CASE(
    "A1 (TransformerEngine 1930): the last token of two documents of 4 and 3 is dropped: no token is lost, none is padding") {
  test::require_oracle_of_all_strategies({0, 4, 7}, 2);
}

TEST_CASE(
    "A2 (TransformerEngine 3331): 698 tokens padded to 704 give other results each time: padding is reported and not attended, "
    "repeats are bit-identical") {
  const LengthSource source =
      parse_document_lengths(R"({"cu_seqlens": [0, 300, 698], "cu_seqlens_padded": [0, 300, 704]})", "padded.json");
  CHECK(source.lengths == std::vector<Token>{300, 398});
  CHECK(has_remark(source, "6 padding tokens (0.85 %)"));
  for (const AttentionKind kind : {AttentionKind::softmax, AttentionKind::linear}) {
    const Problem problem = problem_on(small_layer(kind), offsets_of(source.lengths), 4, 4);
    test::require_oracle(problem, test::choices_for(problem));
    const LayerInputs inputs = random_inputs(problem.shape, problem.mask.tokens(), 3);
    for (const test::Choice& choice : test::first_choices(problem)) {
      INFO(choice.describe());
      const Schedule schedule = choice.strategy->lower(problem, choice.degrees, choice.options);
      const LayerResults once = execute_on_cpu(schedule, inputs).results, again = execute_on_cpu(schedule, inputs).results;
      for (const auto tensor : {&LayerResults::o, &LayerResults::d_q, &LayerResults::d_k, &LayerResults::d_v})
        CHECK((once.*tensor).values == (again.*tensor).values);
    }
  }
}

TEST_CASE(
    "A4 (Megatron-LM 3282): repeated offsets are rejected: they are reported as empty documents, a falling one is the error") {
  const LengthSource source = parse_document_lengths("[0, 16, 40, 40, 40]", "cu_seqlens.json");
  CHECK(source.lengths == std::vector<Token>{16, 24});
  CHECK(has_remark(source, "2 empty documents"));
  CHECK_THROWS_WITH(parse_document_lengths(R"({"cu_seqlens": [0, 16, 12, 40]})", "cu_seqlens.json"), Contains("12"));
}

TEST_CASE("A5 (Megatron-Bridge 4489): a sentinel in the padded offsets is taken for one: it is refused with index and value") {
  const auto read = [](const std::string& text) { return test::refusal_of([&] { parse_document_lengths(text, "f"); }); };
  CHECK_THAT(read(R"({"cu_seqlens": [0, 15, 40, 40], "cu_seqlens_padded": [0, 16, 48, -1]})"),
             Contains("cu_seqlens_padded[3] is -1, below cu_seqlens_padded[2] = 48") && Contains("sentinels"));
  CHECK_THAT(read(R"({"cu_seqlens": [0, 15, 40, 2147483647, 40], "cu_seqlens_padded": [0, 16, 48, 48, 48]})"),
             Contains("cu_seqlens[4] is 40, below cu_seqlens[3] = 2147483647"));
  // Whoever makes a mask without the reader is told as well.
  CHECK_THAT(test::refusal_of([] { DocumentMask({0, 16, 48, -1}); }), Contains("-1") && Contains("48"));
}

TEST_CASE(
    "A7 (NeMo RL 2110): a pack that 8 ranks do not divide fails in the reduce-scatter: each rank gets its own rows' sums") {
  const Problem problem = problem_on(small_layer(), offsets_of({1000, 1500, 601}), 8, 8);
  CHECK(sorted_shares("megatron-sp", problem, {8, 1}) == std::vector<Token>{387, 387, 387, 388, 388, 388, 388, 388});
  const Schedule schedule = test::proved({&find_strategy("megatron-sp"), {8, 1}, {}}, problem);
  std::size_t partial_sums = 0;
  for (RankId rank = 0; rank < 8; ++rank)
    for (const Op& op : schedule.ranks[rank].forward)
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : exchange->recvs)
          for (const Slice& part : message.parts)
            if (schedule.buffer(rank, part.buffer).role == Role::o) {
              CHECK(part.tokens == schedule.ranks[rank].tokens);
              ++partial_sums;
            }
  CHECK(partial_sums == 8 * 7);
}

TEST_CASE("A8 (NeMo RL 3380): 4100 is no multiple of 2 x 4 and every row fails late: the remainder is dealt out, 1025 each") {
  require_proved(4100, 4);
  for (const std::string strategy : {"zigzag", "ring", "te-a2a-p2p"})
    CHECK(sorted_shares(strategy, problem_on(small_layer(), {0, 4100}, 4, 4), {1, 4}) == std::vector<Token>(4, 1025));
}

TEST_CASE("A9 (SkyRL 1407): a document of 2 tokens on 8 ranks leaves most of them without real tokens: it still works") {
  test::require_oracle_of_all_strategies({0, 2}, 8);
}

TEST_CASE("A10 (EasyContext 47): backward of a zigzag ring fails for 2999 tokens on 4 ranks: shares of 749 and 750 are right") {
  require_proved(2999, 4);
  AttentionShape narrow = small_layer();
  narrow.query_heads = 2, narrow.kv_heads = 1, narrow.qk_dim = narrow.v_dim = 8;
  const Problem problem = problem_on(narrow, {0, 2999}, 4, 4);
  CHECK(sorted_shares("zigzag", problem, {1, 4}) == std::vector<Token>{749, 750, 750, 750});
  test::require_oracle(problem, {{&find_strategy("zigzag"), {1, 4}, {}}});
}

TEST_CASE("A11 (DeepSpeed 5177): ulysses on a length that the ranks do not divide: ragged, it sends real tokens only") {
  // A row of q and one of o take 256 B, of k and of v 128 B; three quarters of each leave their rank.
  const Problem problem = problem_on(small_layer(), {0, 1001}, 4, 4);
  const Schedule schedule = test::proved({&find_strategy("ulysses"), {4, 1}, {}}, problem);
  CHECK(test::total_sent(schedule, Phase::forward) == 1001 * (2 * 256 + 2 * 128) * 0.75);
  CHECK(test::total_sent(schedule, Phase::backward) == 1001 * (2 * 256 + 2 * 128) * 0.75);
}

TEST_CASE(
    "A13 (vllm-omni 492): a diffusion transformer's length that the ranks do not divide gives a wrong image: it is right") {
  AttentionShape sees_all = small_layer();
  sees_all.mask.right = std::nullopt;
  for (const Token tokens : {3, 5, 10, 31}) {
    const Problem problem = problem_on(sees_all, {0, tokens}, 4, 4);
    test::require_oracle(problem, test::choices_for(problem));
  }
}

TEST_CASE("A14 (ArcticInference 175): 37 sequences on ulysses 4 crash: one rank holds 10, three hold 9") {
  const Problem problem = problem_on(small_layer(), offsets_of(std::vector<Token>(37, 1)), 4, 4);
  CHECK(sorted_shares("ulysses", problem, {4, 1}) == std::vector<Token>{9, 9, 9, 10});
  test::require_oracle(problem, {{&find_strategy("ulysses"), {4, 1}, {}}});
}

TEST_CASE("A16 (VeOmni 1182): zigzag wants each document to be a multiple of 2 x 4: each deals its own remainder out") {
  const std::vector<Token> lengths{9, 17, 9, 21};  // one token left over of each of three, five of the last
  const Problem problem = problem_on(small_layer(), offsets_of(lengths), 4, 4);
  for (const std::string strategy : {"zigzag", "usp", "te-a2a-p2p", "double-ring"}) {
    CAPTURE(strategy);
    const Schedule schedule = test::proved({&find_strategy(strategy), {1, 4}, {}}, problem);
    for (const RankProgram& program : schedule.ranks) {
      const TokenSet& owned = schedule.tokens(program.tokens);
      CHECK(owned.size() == 14);  // of 56: each of the eight chunks gets one of the eight left over
      for (std::size_t d = 0; d < lengths.size(); ++d) {
        const Token chunk = lengths[d] / 8;
        const Token held = intersection(owned, TokenSet{problem.mask.document(d)}).size();
        CHECK(held >= 2 * chunk);
        CHECK(held <= 2 * (chunk + 1));
      }
    }
  }
}

TEST_CASE(
    "A17 (swiss-ai Megatron-LM 104): padding of each document counts in the loss: real tokens are the batch, padding is told") {
  const LengthSource source =
      parse_document_lengths(R"({"cu_seqlens": [0, 5, 12, 13], "cu_seqlens_padded": [0, 8, 16, 24]})", "padded.json");
  CHECK(source.lengths == std::vector<Token>{5, 7, 1});
  CHECK(source.fixed_batch);
  CHECK(has_remark(source, "11 padding tokens (45.83 %) left out"));
  test::require_oracle_of_all_strategies(offsets_of(source.lengths), 4);
}

TEST_CASE(
    "A19 (Megatron-LM 7144): kernels ask for multiples of 32 or 128 beside 2 x 4: the waste is told, the plan is the same") {
  const std::vector<std::pair<std::string, std::string>> padded{{"[0, 304, 704]", "6 padding tokens (0.85 %)"},
                                                                {"[0, 320, 736]", "38 padding tokens (5.16 %)"},
                                                                {"[0, 384, 896]", "198 padding tokens (22.10 %)"}};
  for (const auto& [offsets, remark] : padded) {
    const LengthSource source =
        parse_document_lengths(R"({"cu_seqlens": [0, 300, 698], "cu_seqlens_padded": )" + offsets + "}", "padded.json");
    CHECK(source.lengths == std::vector<Token>{300, 398});
    CHECK(has_remark(source, remark));
  }
}

}  // namespace
}  // namespace hsap
