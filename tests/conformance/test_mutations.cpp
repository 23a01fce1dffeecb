#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "planner/ir/errors.hpp"
#include "planner/ir/schedule_json.hpp"
#include "planner/ir/verify.hpp"
#include "tests/conformance/mutations.hpp"
#include "tests/conformance/random_execution.hpp"
#include "tests/planner/hand_made.hpp"

using namespace hsap;
using namespace hsap::test;

namespace {

struct Named {
  const char* name;
  Schedule schedule;
};

std::vector<Named> small_schedules() {
  return {{"local", local_attention()},
          {"ring", two_rank_ring()},
          {"ulysses", two_rank_ulysses()},
          {"state hop", two_rank_state_hop()},
          {"state sum", three_rank_state_sum()}};
}

}  // namespace

TEST_CASE("mutations: the small schedules come out right in every order tried") {
  const auto [name, schedule] = GENERATE(from_range(small_schedules()));
  const auto seed = GENERATE(range(0u, 30u));
  CAPTURE(name, seed);
  CHECK(find_fault(schedule, seed) == std::nullopt);
}

TEST_CASE("mutations: verify refuses them all, and those it accepts come out right in every order tried") {
  const auto [name, schedule] = GENERATE(from_range(small_schedules()));
  std::size_t refused = 0, harmless = 0;
  const auto counts = for_each_mutation(schedule, [&](const Mutation& mutation) {
    if (!is_accepted(mutation.schedule)) {
      ++refused;
      return;
    }
    INFO(name << ": " << mutation.description);
    CHECK(mutation.may_be_harmless);
    ++harmless;
    for (unsigned seed = 0; seed < 10; ++seed) CHECK(find_fault(mutation.schedule, seed) == std::nullopt);
  });
  std::size_t produced = 0;
  for (const auto& [kind, count] : counts) produced += count.produced;
  CHECK(produced == refused + harmless);
  CHECK(refused > 20);
  CHECK(harmless * 20 < refused);
}

TEST_CASE("mutations: the random execution notices the faults that need luck to show") {
  Schedule race = two_rank_ring();
  race.ranks[1].forward[2].after.clear();
  std::size_t noticed = 0;
  for (unsigned seed = 0; seed < 20; ++seed) noticed += find_fault(race, seed).has_value() ? 1 : 0;
  CHECK(noticed > 0);
}

TEST_CASE("mutations: a file with one wrong number is refused, or comes out right all the same") {
  const auto [name, schedule] = GENERATE(from_range(small_schedules()));
  const nlohmann::json text = to_json(schedule);
  std::vector<std::string> numbers;  // where they stand
  const nlohmann::json flat = text.flatten();
  for (const auto& item : flat.items())
    if (item.value().is_number_integer()) numbers.push_back(item.key());
  std::mt19937 random(1);
  std::size_t accepted = 0;
  for (const std::string& number : numbers)
    for (int attempt = 0; attempt < 3; ++attempt) {
      nlohmann::json changed = text;
      auto& value = changed[nlohmann::json::json_pointer(number)];
      value = std::uniform_int_distribution<int>(-1, 12)(random);
      INFO(name << ": " << number << " = " << value);
      try {
        const Schedule read = schedule_from_json(changed);
        verify(read, read.mask);
        ++accepted;
        CHECK(find_fault(read, 1) == std::nullopt);
      } catch (const InvalidInput&) {
      }
    }
  CHECK(accepted < numbers.size());  // steps, widths, and numbers that stayed what they were
}
