// hsap-plan trace: simulates a plan and writes when every op ran.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "planner/ir/units.hpp"
#include "sim/simulate.hpp"
#include "tools/plan/chrome_trace.hpp"
#include "tools/plan/commands.hpp"
#include "tools/plan_file.hpp"
#include "tools/whole_file.hpp"

namespace hsap {

namespace {

void write_trace(const std::string& plan_file, const std::string& out) {
  require_writable(out);
  const PlanFile plan = read_plan_file(plan_file);
  const ClusterTopology cluster = plan.cluster();
  const Timeline timeline = simulate(plan.schedule, cluster, KernelTimes(cluster));
  write_whole_file(out, chrome_trace(plan.schedule, timeline, cluster).dump() + "\n");
  std::cout << describe(plan.schedule.strategy, plan.schedule.degrees, plan.options) << " on " << plan.schedule.ranks.size()
            << " ranks: " << format_seconds(timeline.forward.seconds()) << " forward, "
            << format_seconds(timeline.backward.seconds()) << " backward (simulate)\nwritten " << out
            << "; open it in https://ui.perfetto.dev\n";
}

}  // namespace

void add_trace_command(CLI::App& app) {
  struct Files {
    std::string plan;
    std::string out;
  };
  CLI::App* command = app.add_subcommand("trace", "Simulate a plan and write a Chrome trace: a row per rank and stream");
  const auto files = std::make_shared<Files>();
  command->add_option("plan", files->plan, "Plan file")->type_name("FILE")->required();
  command->add_option("--out", files->out, "Trace file to write")->type_name("FILE")->required();
  command->footer("Example:\n  hsap-plan trace plan.json --out trace.json");
  command->callback([files] { write_trace(files->plan, files->out); });
}

}  // namespace hsap
