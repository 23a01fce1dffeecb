// The subcommands of hsap-plan, one file each. Every function adds its subcommand to the application.
#pragma once

namespace CLI {
class App;
}

namespace hsap {

void add_compare_command(CLI::App& app);
void add_plan_command(CLI::App& app);
void add_trace_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_pack_command(CLI::App& app);
void add_list_command(CLI::App& app);
void add_bench_planner_command(CLI::App& app);

/// What hsap-plan does without arguments: compare all strategies on the built-in problem.
void compare_built_in();

}  // namespace hsap
