#include "tools/plan/planner_bench_text.hpp"

#include <functional>
#include <sstream>

#include "planner/ir/units.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

constexpr double kMilli = 1e-3;
constexpr double kKibi = 1024;

std::string cell(const std::optional<double>& value, int decimals) { return value ? format_number(*value, decimals) : "-"; }

/// One number of every run.
struct Column {
  std::string header;
  int decimals;
  std::function<std::optional<double>(const PlannerRun&)> value;
};

std::vector<Column> columns(const PlannerBench& bench) {
  const auto peer_over_bound = [&](const PlannerRun& run) {
    const PeerResult* peer = bench.best_peer(run);
    return peer == nullptr ? std::nullopt : peer->over_bound();
  };
  const auto peer_milliseconds = [&](const PlannerRun& run) -> std::optional<double> {
    const PeerResult* peer = bench.best_peer(run);
    if (peer == nullptr || !peer->planning_seconds) return std::nullopt;
    return *peer->planning_seconds / kMilli;
  };
  return {
      {"place\nms", 3, [](const PlannerRun& run) { return run.placement_seconds / kMilli; }},
      {"lower\nms", 2, [](const PlannerRun& run) { return run.lowering_seconds / kMilli; }},
      {"cost\n/ mean", 4, [](const PlannerRun& run) { return run.cost_over_mean(); }},
      {"tokens\n/ mean", 2, [](const PlannerRun& run) { return run.traffic.tokens_over_mean(); }},
      {"most\nKi", 0, [](const PlannerRun& run) { return static_cast<double>(run.traffic.most_received()) / kKibi; }},
      {"all\nKi", 0, [](const PlannerRun& run) { return static_cast<double>(run.traffic.received()) / kKibi; }},
      {"nodes\nKi", 0, [](const PlannerRun& run) { return static_cast<double>(run.traffic.entered()) / kKibi; }},
      {"direct\n/bound", 3, [](const PlannerRun& run) { return run.direct_over_bound(); }},
      {"hier.\n/bound", 4, [](const PlannerRun& run) { return run.hierarchical_over_bound(); }},
      {"simul.\n/bound", 4, [](const PlannerRun& run) { return run.simulated_over_bound(); }},
      {"keys\n/V_A", 2, [](const PlannerRun& run) { return run.over_row_atomic(); }},
      {"keys\n/V_A2", 2, [](const PlannerRun& run) { return run.over_coupled(); }},
      {"best\npeer", 3, peer_over_bound},
      {"its\nms", 1, peer_milliseconds},
  };
}

void print_lines(std::ostream& out, const TextTable& table, std::size_t bold_from) {
  const std::vector<std::string> lines = table.lines();
  for (std::size_t line = 0; line < lines.size(); ++line)
    out << (line >= table.header_lines() + bold_from ? bold(lines[line]) : lines[line]) << '\n';
}

void print_runs(std::ostream& out, const PlannerBench& bench, const std::vector<const PlannerRun*>& runs) {
  const std::vector<Column> all = columns(bench);
  TextTable table;
  table.add_column("instance", Align::left);
  for (const Column& column : all) table.add_column(column.header, Align::right);
  for (const PlannerRun* run : runs) {
    std::vector<std::string> cells = {run->instance + (run->within_cap ? "" : " !")};
    for (const Column& column : all) cells.push_back(cell(column.value(*run), column.decimals));
    table.add_row(std::move(cells));
  }
  std::vector<std::string> medians = {"median"};
  std::vector<std::string> largest = {"largest"};
  for (const Column& column : all) {
    std::vector<double> values;
    for (const PlannerRun* run : runs)
      if (const std::optional<double> value = column.value(*run)) values.push_back(*value);
    const std::optional<Spread> spread = spread_of(std::move(values));
    medians.push_back(spread ? format_number(spread->median, column.decimals) : "-");
    largest.push_back(spread ? format_number(spread->largest, column.decimals) : "-");
  }
  table.add_row(std::move(medians));
  table.add_row(std::move(largest));
  print_lines(out, table, runs.size());
}

void add_spread(std::vector<std::string>& cells, const std::optional<Spread>& spread, double unit, int decimals) {
  cells.push_back(spread ? format_number(spread->median / unit, decimals) : "-");
  cells.push_back(spread ? format_number(spread->largest / unit, decimals) : "-");
}

void print_planners(std::ostream& out, const PlannerBench& bench, int ranks) {
  TextTable table;
  table.add_column("planner", Align::left);
  table.add_column("instances", Align::right);
  for (const char* header : {"planning, ms\nmedian", "\nlargest", "direct / bound\nmedian", "\nlargest",
                             "hierarchical / bound\nmedian", "\nlargest"})
    table.add_column(header, Align::right);
  for (const PlannerSummary& summary : summaries(bench, ranks)) {
    std::vector<std::string> cells = {summary.planner, std::to_string(summary.instances)};
    add_spread(cells, summary.planning_seconds, kMilli, 3);
    add_spread(cells, summary.direct_over_bound, 1, 3);
    add_spread(cells, summary.hierarchical_over_bound, 1, 4);
    table.add_row(std::move(cells));
  }
  print_lines(out, table, table.lines().size());
}

void print_meaning(std::ostream& out, bool has_peers, bool simulated) {
  out << wrapped(
             "place: the placement alone; lower: all of strategy hsap 1xP for that layer, this placement, exchange and every "
             "rank's program. One thread, best of a few. cost: attention and linear work of a rank. Keys that a rank receives "
             "at most, that all receive, and that enter nodes, in units of 1,024 tokens; V_A, V_A2: the least that any plan of "
             "whole rows must move, each cap alone and both together. Modelled layer time (Llama-3-8B forward, nodes of 8, "
             "attention and communication overlapped) over the compute bound, when ranks fetch directly and when keys enter a "
             "node once. A ! says that the token cap is missed.",
             kLineWidth, 0)
      << '\n';
  if (simulated)
    out << wrapped(
               "simul.: the forward of that layer as hsap's schedule, hierarchical exchange, runs in the simulator, at the "
               "model's "
               "rates: its own order of steps, links shared max-min fairly, one NIC for each rank; nothing is assumed to "
               "overlap "
               "that the schedule does not overlap. No latencies, and kernels without matrix work take no time.",
               kLineWidth, 0)
        << '\n';
  if (has_peers)
    out << wrapped(
               "Peers: from the table of peers, times as measured there, in the language shipped; medians are over "
               "the instances for which there is a figure. Best peer: nearest to the "
               "bound "
               "with either exchange, prototypes of hsap (hcc_...) aside.",
               kLineWidth, 0)
        << '\n';
}

}  // namespace

std::string planner_bench_text(const PlannerBench& bench) {
  std::ostringstream out;
  for (const int ranks : bench.ranks) {
    const std::vector<const PlannerRun*> runs = bench.runs_on(ranks);
    if (runs.empty()) {
      out << ranks << " ranks: no instance with 2,048 to 131,072 tokens per rank\n\n";
      continue;
    }
    std::size_t within = 0;
    for (const PlannerRun* run : runs) within += run->within_cap ? 1 : 0;
    out << bold(std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks")) << ", token cap "
        << format_number(bench.rules.token_cap, 2) << " met in " << within << " of " << runs.size() << '\n';
    print_runs(out, bench, runs);
    out << '\n';
    if (!bench.peers.empty()) {
      print_planners(out, bench, ranks);
      out << '\n';
    }
  }
  print_meaning(out, !bench.peers.empty(), bench.rules.simulate);
  return out.str();
}

}  // namespace hsap
