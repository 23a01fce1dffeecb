#include "tools/run/report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "planner/ir/units.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

using Json = nlohmann::ordered_json;

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", value);
  return text;
}

std::vector<std::pair<std::string, double>> named(const RelativeErrors& errors) {
  return {{"O", errors.o}, {"dQ", errors.d_q}, {"dK", errors.d_k}, {"dV", errors.d_v}};
}

std::string timing_rows(const RunReport& report, const Prediction& predicted) {
  const std::string repeats = std::to_string(report.forward_seconds.size());
  TextTable table;
  table.add_column("phase", Align::left);
  table.add_column("predicted for " + predicted.device + "\n(" + predicted.evaluator + ", dtype of the model)", Align::right);
  table.add_column("measured on this host's CPU\n(fp32), least of " + repeats, Align::right);
  table.add_column("measured,\nmedian of " + repeats, Align::right);
  table.add_row({"forward", format_seconds(predicted.forward_seconds), format_seconds(least(report.forward_seconds)),
                 format_seconds(median(report.forward_seconds))});
  table.add_row({"backward", format_seconds(predicted.backward_seconds), format_seconds(least(report.backward_seconds)),
                 format_seconds(median(report.backward_seconds))});
  std::string text;
  for (const std::string& line : table.lines()) text += line + "\n";
  return text;
}

}  // namespace

std::string report_text(const RunReport& report, const PlanFile& plan) {
  const Schedule& schedule = plan.schedule;
  std::ostringstream out;
  out << "plan      " << report.plan_file << ": " << describe(schedule.strategy, schedule.degrees, plan.options) << " for "
      << plan.model << " on " << schedule.ranks.size() << " GPUs of " << plan.cluster_name << '\n'
      << "layer     " << describe(schedule.shape) << '\n'
      << "batch     " << plan.recipe.lengths << ": " << format_count(schedule.mask.tokens()) << " tokens in "
      << format_count(static_cast<long long>(plan.batch_mask().documents())) << " documents\n"
      << "run       " << schedule.ranks.size() << " ranks as threads of this process, random values from seed " << report.seed
      << "\n\n"
      << timing_rows(report, plan.predicted)
      << "The two are of different machines: the measurement shows that the plan runs, not how fast its GPUs are.\n";
  if (report.errors) {
    const std::string compared = report.errors->coverage + "; largest relative errors against the double-precision oracle:";
    out << '\n' << labelled("verify", 10, compared) << "\n         ";
    for (const auto& [name, error] : named(*report.errors)) out << " " << name << " " << scientific(error);
    out << "\n          " << (report.passed() ? "passed" : "FAILED") << ", tolerance " << scientific(kTolerance) << '\n';
  }
  return out.str();
}

Json report_json(const RunReport& report, const PlanFile& plan) {
  const auto measured = [](const std::vector<double>& seconds) {
    return Json{{"min", least(seconds)}, {"median", median(seconds)}, {"all", seconds}};
  };
  Json json = {
      {"plan", report.plan_file},
      {"backend", report.backend},
      {"strategy", plan.schedule.strategy},
      {"degrees", to_string(plan.schedule.degrees)},
      {"attention", to_string(plan.schedule.shape.kind)},
      {"model", plan.model},
      {"lengths", plan.recipe.lengths},
      {"ranks", plan.schedule.ranks.size()},
      {"tokens", plan.schedule.mask.tokens()},
      {"documents", plan.batch_mask().documents()},
      {"contaminated", plan.contaminated.has_value()},
      {"seed", report.seed},
      {"predicted",
       {{"device", plan.predicted.device},
        {"evaluator", plan.predicted.evaluator},
        {"forward_seconds", plan.predicted.forward_seconds},
        {"backward_seconds", plan.predicted.backward_seconds}}},
      {"measured",
       {{"device", "CPU, fp32"},
        {"forward_seconds", measured(report.forward_seconds)},
        {"backward_seconds", measured(report.backward_seconds)}}},
      {"verify", Json()},
  };
  if (report.errors) {
    json["verify"] = {{"coverage", report.errors->coverage}, {"tolerance", kTolerance}, {"passed", report.passed()}};
    for (const auto& [name, error] : named(*report.errors)) json["verify"]["relative_error"][name] = error;
  }
  return json;
}

std::string failure_text(const RunReport& report, const PlanFile& plan) {
  std::pair<std::string, double> worst;
  for (const auto& error : named(*report.errors))
    if (worst.first.empty() || error.second > worst.second) worst = error;
  return "verification failed: largest relative error " + scientific(worst.second) + " in " + worst.first +
         " is above the tolerance " + scientific(kTolerance) +
         (plan.contaminated ? ", as is to be expected: the plan, as published, attends across documents" : "");
}

}  // namespace hsap
