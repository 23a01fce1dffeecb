// What a person believes a plan to be: checked against the plan before it runs.
#pragma once

#include <optional>
#include <string>

#include "tools/plan_file.hpp"

namespace CLI {
class App;
}

namespace hsap {

/// As given on the command line; what is not given is not checked.
struct Expectations {
  std::optional<std::string> lengths;
  std::optional<std::string> column;
  std::optional<std::string> model;
  std::optional<std::string> mask;
  std::optional<Token> tokens;
  std::optional<std::string> degrees;
  std::optional<std::string> gpus;
};
void add_expectation_options(CLI::App& command, Expectations& expectations);

/// Throws InvalidInput naming what the plan was made for and what was expected.
void check_expectations(const Expectations& expectations, const PlanFile& plan);

}  // namespace hsap
