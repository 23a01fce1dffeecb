#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "planner/ir/errors.hpp"
#include "planner/ir/schedule_json.hpp"
#include "planner/ir/verify.hpp"
#include "tests/planner/hand_made.hpp"
#include "tests/planner/random_sets.hpp"

using namespace hsap;
using namespace hsap::test;
using nlohmann::json;

namespace {

/// A Schedule that makes no sense but whose every field is set at random, so that a field that is not written shows.
class RandomSchedule {
 public:
  explicit RandomSchedule(unsigned seed) : random_(seed) {}

  Schedule make() {
    Schedule schedule;
    schedule.strategy = "random " + std::to_string(draw(0, 99));
    schedule.degrees = {number(1, 9), number(1, 9)};
    schedule.shape = {chance() ? AttentionKind::softmax : AttentionKind::linear,
                      number(1, 64),
                      number(1, 64),
                      number(1, 256),
                      number(1, 256),
                      dtype(),
                      random_rule(random_, 1000)};
    if (chance()) schedule.shape.decay = static_cast<double>(draw(1, 1000)) / 7;
    schedule.mask = random_mask(random_, 50, 9, random_rule(random_, 1000));
    schedule.token_sets.emplace_back();
    for (int i = number(1, 5); i > 0; --i) schedule.token_sets.push_back(random_set(random_, 50));
    token_sets_ = schedule.token_sets.size();
    schedule.ranks.resize(static_cast<std::size_t>(number(1, 4)));
    ranks_ = schedule.ranks.size();
    for (RankProgram& program : schedule.ranks) program = make_program();
    return schedule;
  }

 private:
  Token draw(Token least, Token most) { return test::draw(random_, least, most); }
  int number(int least, int most) { return static_cast<int>(draw(least, most)); }
  bool chance() { return draw(0, 1) == 1; }
  std::uint32_t index(std::size_t size) { return static_cast<std::uint32_t>(draw(0, static_cast<Token>(size) - 1)); }
  DType dtype() { return static_cast<DType>(draw(0, 2)); }
  HeadRange heads() { return {number(0, 8), number(0, 8)}; }
  Slice slice() { return {index(buffers_), index(token_sets_), heads()}; }
  std::optional<Slice> maybe() { return chance() ? std::optional<Slice>(slice()) : std::nullopt; }

  PooledList<Message> messages() {
    PooledList<Message> list(static_cast<std::size_t>(draw(0, 3)));
    for (Message& message : list) {
      message.peer = index(ranks_);
      for (Token i = draw(0, 3); i > 0; --i) message.parts.push_back(slice());
    }
    return list;
  }
  std::vector<Slice> slices() {
    std::vector<Slice> list;
    for (Token i = draw(0, 3); i > 0; --i) list.push_back(slice());
    return list;
  }
  TransferList terms() {
    TransferList list;
    for (Token i = draw(0, 3); i > 0; --i) list.push_back({slice(), slice()});
    return list;
  }
  OpBody make_body() {
    switch (draw(0, 10)) {
      case 0:
        return Exchange{messages(), messages()};
      case 1:
        return Attend{slice(), slice(), slice(), slice(), maybe()};
      case 2:
        return Merge{slice(), slice(), slice(), slice()};
      case 3:
        return AttendBackward{slice(), slice(), slice(), maybe(), maybe(), slice(), slice(), slice(), slice()};
      case 4:
        return Accumulate{terms()};
      case 5:
        return Copy{terms()};
      case 6:
        return Delta{slice(), slice(), slice()};
      case 7:
        return Zero{{slice(), slice()}};
      case 8:
        return StateUpdate{slice(), slice(), maybe(), slice()};
      case 9:
        return StateSum{slices(), slice()};
      default:
        return StateApply{slice(), slice(), slice(), chance()};
    }
  }
  PooledList<Op> make_ops() {
    PooledList<Op> ops(static_cast<std::size_t>(draw(0, 12)));
    for (OpIndex i = 0; i < ops.size(); ++i) {
      ops[i] = {i, number(0, 3), number(-1, 20), {}, make_body()};
      for (Token n = draw(0, 2); n > 0; --n) ops[i].after.push_back(index(ops.size()));
    }
    return ops;
  }
  RankProgram make_program() {
    RankProgram program;
    program.tokens = index(token_sets_);
    program.buffers.resize(static_cast<std::size_t>(draw(1, 6)));
    buffers_ = program.buffers.size();
    for (Buffer& buffer : program.buffers)
      buffer = {static_cast<Role>(draw(0, 10)), dtype(), index(token_sets_), heads(),
                "a \"name\" " + std::to_string(draw(0, 9))};
    const auto any = [&] { return index(buffers_); };
    program.boundary = {any(), any(), any(), any(), any(), any(), any(), any()};
    program.forward = make_ops();
    program.backward = make_ops();
    return program;
  }

  std::mt19937 random_;
  std::size_t token_sets_ = 0, ranks_ = 0, buffers_ = 0;
};

/// Reading is refused, in one line with `fragment` in it.
void refuse(const json& text, const std::string& fragment) {
  INFO("expected: " << fragment);
  try {
    schedule_from_json(text);
    FAIL_CHECK("accepted");
  } catch (const InvalidInput& error) {
    CHECK_THAT(error.what(), Catch::Contains(fragment));
    CHECK_THAT(error.what(), !Catch::Contains("\n"));
  }
}

}  // namespace

TEST_CASE("schedule JSON: what is written is read back the same") {
  for (const Schedule& schedule :
       {local_attention(), two_rank_ring(), two_rank_ulysses(), two_rank_state_hop(), three_rank_state_sum()}) {
    const Schedule read = schedule_from_json(json::parse(to_json(schedule).dump()));
    CHECK(read == schedule);
    CHECK_NOTHROW(verify(read, schedule.mask));
  }
}

TEST_CASE("schedule JSON: random schedules are read back the same") {
  const auto seed = GENERATE(range(0u, 100u));
  CAPTURE(seed);
  const Schedule schedule = RandomSchedule(seed).make();
  CHECK(schedule_from_json(json::parse(to_json(schedule).dump())) == schedule);
}

TEST_CASE("schedule JSON: token sets are flat and written once, enums are names, what is absent is left out") {
  const json text = to_json(two_rank_ring());
  CHECK(text["version"] == 1);
  CHECK(text["degrees"] == "1x2");
  CHECK(text["token_sets"] == json::parse("[[], [0, 4], [4, 8]]"));
  CHECK(text["mask"] == json::parse(R"({"offsets": [0, 2, 8]})"));
  CHECK_FALSE(text["shape"].contains("rule"));
  Schedule full = two_rank_ring();
  full.shape.mask = parse_mask_rule("full");
  full.mask = DocumentMask({0, 2, 8}, parse_mask_rule("sinks:1,window:2"));
  CHECK(to_json(full)["shape"]["rule"] == json::parse(R"({"right": null})"));
  CHECK(to_json(full)["mask"]["rule"] == json::parse(R"({"left": 1, "sinks": 1})"));
  const json& hop = text["ranks"][0]["forward"][0];
  CHECK(hop["kind"] == "exchange");
  CHECK_FALSE(hop.contains("after"));
  CHECK(hop["sends"] == json::parse(R"([{"peer": 1, "parts": [[1, 1, 0, 1], [2, 1, 0, 1]]}])"));
  CHECK(text["ranks"][1]["forward"][2]["after"] == json::parse("[0]"));
  CHECK(text["ranks"][1]["buffers"][9] ==
        json::parse(R"({"role": "k", "dtype": "bf16", "tokens": 1, "heads": [0, 1], "name": "k hop"})"));
}

TEST_CASE("schedule JSON: errors name the place, what was found and what was expected") {
  json text = to_json(two_rank_ring());
  json& ranks = text["ranks"];
  SECTION("not an object") { refuse(json::parse("[1]"), "schedule: found an array, expected an object"); }
  SECTION("another version") {
    text["version"] = 2;
    refuse(text, "schedule.version: found 2, expected an integer from 1 to 1");
  }
  SECTION("no version") {
    text.erase("version");
    refuse(text, "schedule.version: is missing");
  }
  SECTION("a missing key") {
    ranks[1]["forward"][2].erase("q");
    refuse(text, "schedule.ranks[1].forward[2].q: is missing");
  }
  SECTION("an unknown key") {
    ranks[1]["buffers"][3]["shape"] = 1;
    refuse(text, "schedule.ranks[1].buffers[3].shape: is an unknown key, expected one of role, dtype");
  }
  SECTION("a key of another op") {
    ranks[1]["forward"][3]["x"] = 1;
    refuse(text, "schedule.ranks[1].forward[3].x: is an unknown key");
  }
  SECTION("a wrong type") {
    ranks[1]["forward"][2]["stream"] = "0";
    refuse(text, "schedule.ranks[1].forward[2].stream: found \"0\", expected an integer from 0");
  }
  SECTION("a number that is no integer") {
    ranks[1]["forward"][2]["step"] = 0.5;
    refuse(text, "schedule.ranks[1].forward[2].step: found 0.5, expected an integer");
  }
  SECTION("a number beyond 64 bits") {
    ranks[1]["tokens"] = 18446744073709551615u;
    refuse(text, "schedule.ranks[1].tokens: found 18446744073709551615, expected an integer from 0 to 2");
  }
  SECTION("a buffer that does not exist") {
    ranks[0]["forward"][0]["sends"][0]["parts"][1][0] = 99;
    refuse(text, "schedule.ranks[0].forward[0].sends[0].parts[1][0]: found 99, expected an integer from 0 to 12");
  }
  SECTION("a token set that does not exist") {
    ranks[0]["forward"][0]["sends"][0]["parts"][1][1] = 3;
    refuse(text, "parts[1][1]: found 3, expected an integer from 0 to 2");
  }
  SECTION("a rank that does not exist") {
    ranks[0]["forward"][0]["sends"][0]["peer"] = 2;
    refuse(text, "schedule.ranks[0].forward[0].sends[0].peer: found 2, expected an integer from 0 to 1");
  }
  SECTION("an op that does not exist") {
    ranks[1]["forward"][2]["after"][0] = 4;
    refuse(text, "schedule.ranks[1].forward[2].after[0]: found 4, expected an integer from 0 to 3");
  }
  SECTION("a slice with a number too few") {
    ranks[1]["forward"][2]["q"].erase(3);
    refuse(text, "schedule.ranks[1].forward[2].q: has 3 elements, expected 4");
  }
  SECTION("an unknown op") {
    ranks[1]["forward"][2]["kind"] = "pack";
    refuse(text, "schedule.ranks[1].forward[2].kind: found \"pack\"");
  }
  SECTION("an unknown role") {
    ranks[1]["buffers"][3]["role"] = "out";
    refuse(text, "schedule.ranks[1].buffers[3].role: found \"out\", expected one of q, k, v, o, lse");
  }
  SECTION("a decay that is no scale") {
    text["shape"]["decay"] = GENERATE(json(-1), json("fast"));
    refuse(text, "schedule.shape.decay: found " + text["shape"]["decay"].dump() + ", expected a number of 0 or more");
  }
  SECTION("degrees in words") {
    text["degrees"] = "two";
    refuse(text, "schedule.degrees: degrees: found \"two\"");
  }
  SECTION("token sets out of order") {
    text["token_sets"][2] = {4, 6, 6, 8};
    refuse(text, "schedule.token_sets[2][2]: found 6, expected more than its predecessor 6");
  }
  SECTION("half a range") {
    text["token_sets"][2] = {4, 6, 7};
    refuse(text, "schedule.token_sets[2]: has 3 numbers, expected pairs");
  }
  SECTION("documents out of order") {
    text["mask"]["offsets"] = {0, 4, 4};
    refuse(text, "schedule.mask: document offsets: offset 2 is 4");
  }
  SECTION("mask rules that make no sense") {
    text["mask"]["rule"] = {{"left", -1}};
    refuse(text, "schedule.mask.rule.left: found -1, expected an integer from 0");
    text["mask"]["rule"] = {{"left", 4}, {"right", nullptr}};
    refuse(text, "schedule.mask.rule: mask rule: a limit on earlier keys and none on later ones");
    text["mask"]["rule"] = {{"chunk", 0}};
    refuse(text, "schedule.mask.rule: mask rule: chunk is 0");
    text["mask"]["rule"] = {{"left", 4'000'000'000'000'000'000}};
    refuse(text, "schedule.mask.rule: mask rule: left is 4000000000000000000, expected 0 to 1000000000000");
    text["mask"]["rule"] = {{"sinks", nullptr}};
    refuse(text, "schedule.mask.rule.sinks: found null");
    text["mask"]["rule"] = {{"window", 4}};
    refuse(text, "schedule.mask.rule.window: is an unknown key");
    text["mask"]["rule"] = "causal";
    refuse(text, "schedule.mask.rule: found \"causal\", expected an object");
  }
}
