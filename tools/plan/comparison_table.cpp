#include "tools/plan/comparison_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/units.hpp"
#include "tools/plan/bound_distance.hpp"
#include "tools/plan_file.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

constexpr double kMilli = 1e-3;
constexpr double kMebi = 1024.0 * 1024.0;

/// One number of every row, with the decimals that the column needs; "-" where the strategy could not run.
class NumberColumn {
 public:
  NumberColumn(const std::string& header, double unit, std::function<double(const Outcome&)> value)
      : header_(header), unit_(unit), value_(std::move(value)) {}

  void prepare(TextTable& table, const std::vector<Outcome>& outcomes) {
    table.add_column(header_, Align::right);
    std::vector<double> values;
    for (const Outcome& outcome : outcomes)
      if (outcome.valid) values.push_back(value_(outcome) / unit_);
    decimals_ = decimals_for(values);
  }
  std::string cell(const Outcome& outcome) const {
    return outcome.valid ? format_number(value_(outcome) / unit_, decimals_) : "-";
  }

 private:
  std::string header_;
  double unit_;
  std::function<double(const Outcome&)> value_;
  int decimals_ = 0;
};

/// The ranked figure of a layer is told where it is known.
std::vector<NumberColumn> number_columns(bool layer_known) {
  std::vector<NumberColumn> columns;
  if (layer_known) columns.emplace_back("layer\nms", kMilli, [](const Outcome& o) { return o.seconds(Objective::layer); });
  const std::vector<NumberColumn> others = {
      {"forward\nms", kMilli, [](const Outcome& o) { return o.forward_seconds; }},
      {"backward\nms", kMilli, [](const Outcome& o) { return o.backward_seconds; }},
      {"exposed\ncomm. ms", kMilli, [](const Outcome& o) { return o.exposed_communication_seconds; }},
      {"busiest\nsent, MiB", kMebi, [](const Outcome& o) { return o.bytes_sent_busiest_rank; }},
      {"between\nnodes, MiB", kMebi, [](const Outcome& o) { return o.bytes_between_nodes; }},
      {"memory\nMiB", kMebi, [](const Outcome& o) { return o.peak_memory_bytes; }},
      {"times\nbound", 1, [](const Outcome& o) { return o.over_bound; }},
  };
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

void print_rows(std::ostream& out, const Comparison& comparison, bool layer_known) {
  TextTable table;
  table.add_column("strategy", Align::left);
  table.add_column("kind", Align::left);
  table.add_column("degrees", Align::right);
  std::vector<NumberColumn> numbers = number_columns(layer_known);
  for (NumberColumn& column : numbers) column.prepare(table, comparison.outcomes);
  table.add_column("fits", Align::left);
  for (const Outcome& outcome : comparison.outcomes) {
    std::vector<std::string> cells = {outcome.strategy, to_string(outcome.attention), to_string(outcome.degrees)};
    for (const NumberColumn& column : numbers) cells.push_back(column.cell(outcome));
    cells.push_back(!outcome.valid ? "refused" : outcome.contamination ? "contaminates" : outcome.fits ? "yes" : "no");
    table.add_row(std::move(cells));
  }
  const std::vector<std::string> lines = table.lines();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const bool is_best = comparison.best && line == table.header_lines() + *comparison.best;
    out << (is_best ? bold(lines[line]) : lines[line]) << '\n';
  }
}

void print_reasons(std::ostream& out, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes)
    if (outcome.contamination) out << labelled("wrong", 13, contamination_text(outcome)) << '\n';
  for (const Outcome& outcome : outcomes)
    if (!outcome.reason.empty()) out << labelled(outcome.valid ? "does not fit" : "refused", 13, named_reason(outcome)) << '\n';
}

void print_best(std::ostream& out, const Ranking& ranking) {
  const Comparison& comparison = ranking.comparison;
  if (!comparison.best) {
    out << "best         none: no strategy serves " << to_string(ranking.problem.shape.kind) << " attention here and fits\n";
  } else {
    const Outcome& best = comparison.outcomes[*comparison.best];
    out << "best         "
        << bold(describe(best.strategy, best.degrees, best.options) + ": " +
                format_seconds(best.seconds(comparison.objective)) + " " + to_string(comparison.objective) +
                " forward + backward, " + format_number(best.over_bound, 2) + " times the lower bound")
        << '\n';
  }
  if (comparison.best && std::isfinite(ranking.problem.buffer_bytes))
    out << labelled("buffers", 13, buffer_text(ranking, comparison.outcomes[*comparison.best])) << '\n';
  out << distance_text(comparison, "lower bound", 13);
}

void print_meaning(std::ostream& out, const Ranking& ranking, const std::string& evaluator) {
  const bool simulated = evaluator == "simulate";
  const std::string layer =
      ranking.linear_parameters ? "Layer: attention and the linear work of each rank's tokens, forward + backward. " : "";
  out << wrapped(layer + "Other times are for one layer's attention with its communication, predicted by " + evaluator +
                     (simulated ? " (links shared by all traffic)" : " (no contention between transfers)") +
                     "; bytes are forward + backward; memory is the busiest rank's for one layer's attention.",
                 kLineWidth, 0)
      << '\n';
  std::istringstream sources(ranking.kernel_provenance);
  for (std::string line; std::getline(sources, line);) out << wrapped("Kernel times: " + line, kLineWidth, 4) << '\n';
  const AttentionKind kind = ranking.problem.shape.kind;
  std::vector<std::string> others;
  for (const Outcome& outcome : ranking.comparison.outcomes)
    if (outcome.attention != kind && std::find(others.begin(), others.end(), outcome.strategy) == others.end())
      others.push_back(outcome.strategy);
  if (others.empty()) return;
  const bool one = others.size() == 1;
  out << wrapped(listed(others) + " cannot serve " + to_string(kind) +
                     " attention: " + (one ? "its row is" : "their rows are") +
                     " for the linear counterpart of the layer (same heads and widths, its own lower bound), so " +
                     (one ? "it is" : "they are") + " never the best.",
                 kLineWidth, 0)
      << '\n';
}

}  // namespace

std::string comparison_table(const Ranking& ranking, const std::string& evaluator) {
  std::ostringstream out;
  print_rows(out, ranking.comparison, ranking.linear_parameters.has_value());
  out << '\n';
  print_reasons(out, ranking.comparison.outcomes);
  print_best(out, ranking);
  print_meaning(out, ranking, evaluator);
  return out.str();
}

}  // namespace hsap
