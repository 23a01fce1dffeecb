#include <catch2/catch.hpp>
#include <thread>

#include "backend/monitor.hpp"
#include "planner/ir/errors.hpp"

using namespace hsap;

TEST_CASE("monitor: a wait ends when another thread makes it ready") {
  Monitor monitor;
  bool ready = false;
  bool seen = false;
  monitor.enter();
  std::thread other([&] {
    monitor.wait({.ready = [&] { return ready; }, .describe = [] { return "other"; }}, [&] { seen = true; });
    monitor.leave();
  });
  monitor.update([&] { ready = true; });
  monitor.leave();
  other.join();
  CHECK(seen);
  CHECK(monitor.failure() == nullptr);
}

TEST_CASE("monitor: when the last running thread leaves or waits, the others' waits become a failure that names them") {
  for (const bool last_one_waits : {false, true}) {
    CAPTURE(last_one_waits);
    Monitor monitor;
    const auto wait_for_ever = [&](const std::string& name, bool for_message) {
      try {
        monitor.wait({.ready = [] { return false; }, .describe = [&] { return name + " waits"; }, .for_message = for_message});
      } catch (const Stopped&) {
      }
      monitor.leave();
    };
    monitor.enter();
    monitor.enter();
    std::thread first([&] { wait_for_ever("first", false); });
    std::thread second([&] { wait_for_ever("second", true); });
    if (last_one_waits)
      wait_for_ever("third", false);
    else
      monitor.leave();
    first.join();
    second.join();
    REQUIRE(monitor.failure() != nullptr);
    CHECK_THROWS_WITH(std::rethrow_exception(monitor.failure()), Catch::Contains("no rank can go on: second waits; "));
  }
}

TEST_CASE("monitor: after a failure nobody waits or changes anything, and the first failure is the one kept") {
  Monitor monitor;
  monitor.fail(std::make_exception_ptr(InvalidInput("first")));
  monitor.fail(std::make_exception_ptr(InvalidInput("second")));
  CHECK_THROWS_AS(monitor.update([] {}), Stopped);
  CHECK_THROWS_AS(monitor.wait({.ready = [] { return true; }, .describe = [] { return ""; }}), Stopped);
  CHECK_THROWS_WITH(std::rethrow_exception(monitor.failure()), "first");
}
