// Reports E: ranks that wait for each other for ever. What would hang is refused before anyone runs it, by the first rank and
// op at which the ranks part.
#include <algorithm>
#include <set>
#include <utility>

#include "tests/golden/reports.hpp"
#include "tests/planner/refusals.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;
using test::offsets_of;
using test::problem_on;
using test::small_layer;

std::string refusal_of(const Schedule& schedule) {
  return test::refusal_of([&] { verify(schedule, schedule.mask); });
}

Exchange* exchange_of(Op& op) { return std::get_if<Exchange>(&op.body); }

TEST_CASE("E1 (EasyR1 11012): ranks run different numbers of collectives: the first rank and op without an answer are named") {
  const Problem problem = problem_on(small_layer(), {0, 640}, 4, 4);
  for (const std::string strategy : {"ring", "zigzag"}) {
    CAPTURE(strategy);
    Schedule schedule = find_strategy(strategy).lower(problem, {1, 4});
    PooledList<Op>& ops = schedule.ranks[2].forward;
    const auto last = std::find_if(ops.rbegin(), ops.rend(), [](Op& op) { return exchange_of(op) != nullptr; });
    exchange_of(*last)->sends.clear();
    CHECK_THAT(refusal_of(schedule), Contains("rank 3, forward op") &&
                                         Contains("receives from rank 2, which never sends it: 3 messages received, 2 sent"));
    test::drop(ops, last->id);  // one step fewer than the others
    CHECK_THAT(refusal_of(schedule), Contains("rank 1, forward op") &&
                                         Contains("sends to rank 2, which never receives it: 3 messages sent, 2 received"));
    CHECK_THROWS_AS(execute_on_cpu(schedule, random_inputs(problem.shape, 640, 1)), BackendFailure);
  }
}

TEST_CASE(
    "E2 (siiRL 69): the ranks of a group pack different data: a plan of another batch is refused by the first difference") {
  const Problem mine = problem_on(small_layer(), {0, 20, 64}, 4, 4), theirs = problem_on(small_layer(), {0, 24, 64}, 4, 4);
  for (const test::Choice& choice : test::first_choices(mine)) {
    INFO(choice.describe());
    const Schedule schedule = choice.strategy->lower(mine, choice.degrees, choice.options);
    CHECK_THAT(test::refusal_of([&] { verify(schedule, theirs.mask); }),
               Contains("made for another batch") && Contains("document 1 starts at 20 there, at 24 here"));
  }
}

TEST_CASE(
    "E4 (Megatron-LM 5679): groups of 4 on 6 ranks leave a tail of 2: degrees and groups divide the ranks, others are "
    "refused") {
  const Problem problem = problem_on(small_layer(), offsets_of({300, 120, 60, 20, 10, 5, 2}), 6, 6);
  const auto refusal = [&](const std::string& strategy, const Degrees& degrees, const StrategyOptions& options = {}) {
    return test::refusal_of([&] { find_strategy(strategy).lower(problem, degrees, options); });
  };
  CHECK_THAT(refusal("usp", {4, 1}), Contains("degrees 4x1 need 4 ranks, there are 6") && Contains("usp works with 1x6, 2x3"));
  CHECK_THAT(refusal("double-ring", {1, 6}, {.window = 4}),
             Contains("a window of 4 does not divide the 6 places") && Contains("1, 2, 3, 6"));

  const Schedule schedule = test::proved({&find_strategy("hybrid-cp"), {1, 6}, {}}, problem);
  std::set<std::size_t> sizes;
  for (std::size_t d = 0; d < problem.mask.documents(); ++d) {
    const TokenSet document{problem.mask.document(d)};
    sizes.insert(
        static_cast<std::size_t>(std::count_if(schedule.ranks.begin(), schedule.ranks.end(), [&](const RankProgram& program) {
          return schedule.tokens(program.tokens).intersects(document);
        })));
  }
  CHECK(sizes == std::set<std::size_t>{1, 2, 6});
}

/// Every exchange becomes a send, and a receive after it: code with blocking sends.
Schedule with_blocking_sends(Schedule schedule) {
  for (RankProgram& program : schedule.ranks)
    for (PooledList<Op>* ops : {&program.forward, &program.backward}) {
      PooledList<Op> split;
      std::vector<OpIndex> last_of;  // [op before] op after
      for (Op& op : *ops) {
        for (OpIndex& earlier : op.after) earlier = last_of[earlier];
        Op receive = op;
        if (Exchange* exchange = exchange_of(op); exchange != nullptr && !exchange->sends.empty() && !exchange->recvs.empty()) {
          exchange->recvs.clear();
          exchange_of(receive)->sends.clear();
          op.id = static_cast<OpIndex>(split.size());
          split.push_back(op);
        }
        receive.id = static_cast<OpIndex>(split.size());
        last_of.push_back(receive.id);
        split.push_back(std::move(receive));
      }
      *ops = std::move(split);
    }
  return schedule;
}

TEST_CASE("E5 (Megatron-LM 5100): every rank sends before it receives, for ever: the cycle of waiting ranks is told") {
  const Problem problem = problem_on(small_layer(), {0, 640}, 4, 4);
  for (const std::string strategy : {"ring", "zigzag", "allgather", "hsap", "ulysses"}) {
    CAPTURE(strategy);
    const Degrees degrees = strategy == "ulysses" ? Degrees{4, 1} : Degrees{1, 4};
    const Schedule schedule = find_strategy(strategy).lower(problem, degrees);
    CHECK_NOTHROW(verify(schedule, problem.mask));
    CHECK_THAT(refusal_of(with_blocking_sends(schedule)), Contains("the ranks wait for each other for ever: rank ") &&
                                                              Contains(", forward op") && Contains("waits for rank"));
  }
}

TEST_CASE("E7 (NeMo Speech 8992): ranks disagree on who is in their group: the rank whose peer does not know of it is named") {
  const Problem problem = problem_on(small_layer(), {0, 640}, 8, 4);
  Schedule schedule = find_strategy("usp").lower(problem, {4, 2});
  for (Op& op : schedule.ranks[3].forward)  // takes itself for a member of the other group of four
    if (Exchange* exchange = exchange_of(op)) {
      for (Message& message : exchange->sends) message.peer = (message.peer + 4) % 8;
      break;
    }
  CHECK_THAT(refusal_of(schedule), Contains("receives from rank 3, which never sends it"));
  schedule.degrees = {4, 4};
  CHECK_THAT(refusal_of(schedule), Contains("degrees 4x4 do not make 8 ranks"));
}

TEST_CASE(
    "E8 (360-LLaMA-Factory 49): collectives of two streams meet in another order on each rank: unordered ones are refused") {
  const Problem problem = problem_on(small_layer(), {0, 640}, 4, 4);
  Schedule schedule = find_strategy("allgather").lower(problem, {1, 4});
  for (RankProgram& program : schedule.ranks) {  // every second slice of the heads on a stream of its own
    bool second = false;
    for (Op& op : program.forward)
      if (exchange_of(op) != nullptr) {
        op.stream = second ? 2 : 1;
        second = !second;
      }
  }
  CHECK_THAT(refusal_of(schedule), Contains("rank 0, forward op") && Contains("on another stream and not ordered by `after`"));
}

}  // namespace
}  // namespace hsap
