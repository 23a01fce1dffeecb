// hsap-plan: which strategy serves this cluster, model and batch best, and the plan for it.
#include <CLI/CLI.hpp>

#include "tools/command_line.hpp"
#include "tools/plan/commands.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "Plans sequence parallelism of attention on packed batches. Without arguments: compares all strategies on built-in data.",
      "hsap-plan");
  hsap::describe(app,
                 "  hsap-plan compare --cluster dgx-h100 --gpus 16 --model Qwen3-8B --lengths wikipedia --tokens 262144\n"
                 "  hsap-plan plan --gpus 4 --tokens 4096 --out plan.json");
  hsap::add_compare_command(app);
  hsap::add_plan_command(app);
  hsap::add_trace_command(app);
  hsap::add_explain_command(app);
  hsap::add_pack_command(app);
  hsap::add_list_command(app);
  hsap::add_bench_planner_command(app);
  app.require_subcommand(0, 1);
  app.callback([&] {
    if (app.get_subcommands().empty()) hsap::compare_built_in();
  });
  return hsap::run_command_line(app, argc, argv);
}
