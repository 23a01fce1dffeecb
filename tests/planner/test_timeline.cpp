#include <catch2/catch.hpp>

#include "planner/ir/timeline.hpp"
#include "tests/planner/hand_made.hpp"

using namespace hsap;
using namespace hsap::test;

TEST_CASE("timeline: a phase lasts until its last op ends") {
  PhaseTimeline phase;
  CHECK(phase.seconds() == 0);
  phase.ranks = {{{0, 2}, {1, 5}}, {{0, 3}}, {}};
  CHECK(phase.seconds() == 5);
}

TEST_CASE("timeline: exposed communication is an exchange under way while nothing is computed, on the worst rank") {
  // Forward of rank 0: exchange, attend. Of rank 1: exchange, attend, attend after the exchange, merge.
  const Schedule schedule = two_rank_ring();
  Timeline timeline;
  timeline.forward.ranks = {{{0, 3}, {0, 1}}, {{0, 3}, {0.5, 1}, {3, 4}, {4, 5}}};
  CHECK(exposed_communication_seconds(schedule, timeline, Phase::forward) == Approx(2.5));
  timeline.forward.ranks = {{{0, 1}, {0, 1}}, {{0, 1}, {0, 2}, {2, 4}, {4, 5}}};
  CHECK(exposed_communication_seconds(schedule, timeline, Phase::forward) == 0);
  // Two computations that overlap the exchange together, one of them on both sides of it.
  timeline.forward.ranks = {{{0, 0}, {0, 0}}, {{1, 4}, {0, 2}, {1.5, 3}, {3.5, 5}}};
  CHECK(exposed_communication_seconds(schedule, timeline, Phase::forward) == Approx(0.5));
}

TEST_CASE("timeline: exposed communication of overlapping exchanges counts once") {
  Schedule schedule = two_rank_ring();
  for (const RankId rank : {0u, 1u}) {
    Op second = schedule.ranks[rank].forward[0];
    second.id = static_cast<OpIndex>(schedule.ranks[rank].forward.size());
    second.stream = 2;
    schedule.ranks[rank].forward.push_back(second);
  }
  Timeline timeline;
  timeline.forward.ranks = {{{0, 3}, {0, 1}, {2, 6}}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}};
  CHECK(exposed_communication_seconds(schedule, timeline, Phase::forward) == Approx(5));
}
