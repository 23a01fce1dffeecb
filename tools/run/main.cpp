// hsap-run: executes a plan file on real tensors.
#include <CLI/CLI.hpp>

#include "tools/command_line.hpp"
#include "tools/run/run_command.hpp"

int main(int argc, char** argv) {
  CLI::App app("Executes a plan of hsap-plan with real tensors, forward and backward, and can prove the result right.",
               "hsap-run");
  hsap::describe(
      app, "  hsap-plan plan --gpus 4 --tokens 4096 --out plan.json\n  hsap-run plan.json --backend cpu --verify --repeat 3");
  hsap::RunOptions options;
  app.add_option("plan", options.plan, "Plan file")->type_name("FILE")->required();
  app.add_option("--backend", options.backend, "Where to run: cpu (ranks are threads, fp32)")->type_name("NAME");
  app.add_flag("--verify", options.verify, "Compare O, dQ, dK, dV with a double-precision oracle; fail above the tolerance");
  app.add_option("--repeat", options.repeat, "Runs to time (default 1)")->type_name("N")->check(hsap::kWholeNumber);
  app.add_option("--seed", options.seed, "Seed of the random values (default 0)")->type_name("N")->check(hsap::kWholeNumber);
  app.add_flag("--json", options.json, "Print JSON instead of text");
  hsap::add_expectation_options(app, options.expectations);
  app.callback([&] { hsap::run_plan(options); });
  return hsap::run_command_line(app, argc, argv);
}
