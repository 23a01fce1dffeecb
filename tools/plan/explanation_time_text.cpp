#include "tools/plan/explanation_time_text.hpp"

#include <algorithm>
#include <iterator>

#include "planner/ir/units.hpp"
#include "tools/plan/bound_distance.hpp"
#include "tools/plan/explanation_words.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

constexpr std::size_t kRunsShown = 10;
constexpr std::size_t kWaitsShown = 3;
constexpr std::size_t kSharesShown = 3;

/// "k, v from rank 2" as `rank` sees it.
std::string delivery_text(const Delivery& delivery, RankId rank) {
  return role_list(delivery.roles) +
         (delivery.to == rank ? " from rank " + std::to_string(delivery.from) : " to rank " + std::to_string(delivery.to));
}

std::string activity_text(const ActivityShare& share) {
  if (share.kind.empty()) return "nothing";
  return share.roles.empty() ? share.kind : role_list(share.roles);
}

/// "attend 1.2 ms, k, v 0.3 ms"; of one activity only its name.
std::string run_text(const PathRun& run) {
  if (run.shares.size() == 1) return activity_text(run.shares[0]);
  std::string text;
  for (std::size_t i = 0; i < std::min(run.shares.size(), kSharesShown); ++i)
    text += (i == 0 ? "" : "; ") + activity_text(run.shares[i]) + " " + format_seconds(run.shares[i].seconds);
  return text + (run.shares.size() > kSharesShown ? "; ..." : "");
}

std::string path_table(const std::vector<PathStep>& path) {
  const std::vector<PathRun> runs = summarised(path, kRunsShown);
  const TimeUnit unit = time_unit(path.empty() ? 0 : path.back().end);
  std::vector<double> begins, lengths;
  for (const PathRun& run : runs) {
    begins.push_back(run.begin);
    lengths.push_back(run.end - run.begin);
  }
  const std::vector<std::string> begins_text = number_column(begins, unit.seconds),
                                 lengths_text = number_column(lengths, unit.seconds);
  TextTable table;
  for (const std::string& header : {"at " + unit.name, "for " + unit.name, std::string("steps")})
    table.add_column(header, Align::right);
  table.add_column("on ranks", Align::left);
  table.add_column("sent by", Align::left);
  table.add_column("what", Align::left);
  for (std::size_t i = 0; i < runs.size(); ++i)
    table.add_row({begins_text[i], lengths_text[i], format_count(static_cast<long long>(runs[i].steps)),
                   rank_list(runs[i].ranks), rank_list(runs[i].senders), run_text(runs[i])});
  return text_of(table);
}

std::string rank_waits(const char* which, const RankWaits& waits, double seconds) {
  std::string text = "rank " + std::to_string(waits.rank) + " computes nothing for " + format_seconds(waits.seconds) + " (" +
                     percent(waits.seconds, seconds) + "), the " + which;
  for (std::size_t i = 0; i < std::min(waits.waits.size(), kWaitsShown); ++i) {
    const Wait& wait = waits.waits[i];
    text += (i == 0 ? ": " : "; ") + format_seconds(wait.seconds) +
            (wait.delivery ? " for " + delivery_text(*wait.delivery, waits.rank) : " when it is done");
  }
  if (waits.waits.size() > kWaitsShown) text += "; and " + std::to_string(waits.waits.size() - kWaitsShown) + " more";
  return wrapped(text, kLineWidth, 2) + "\n";
}

}  // namespace

std::string program_text(const ExplainedPlan& explained) {
  if (!explained.rank) return "";
  const std::vector<RankOp> program = rank_program(explained.plan.schedule, *explained.rank, explained.timeline);
  std::string text = heading("rank " + std::to_string(*explained.rank), "its ops in the order in which it issues them");
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    std::vector<RankOp> ops;
    std::copy_if(program.begin(), program.end(), std::back_inserter(ops), [&](const RankOp& op) { return op.phase == phase; });
    const TimeUnit unit = time_unit(phase_of(explained.timeline, phase).seconds());
    std::vector<double> bytes, begins, ends;
    for (const RankOp& op : ops) {
      bytes.push_back(op.kind == "exchange" ? op.bytes_sent + op.bytes_received : op.bytes_touched);
      begins.push_back(op.time.begin);
      ends.push_back(op.time.end);
    }
    const std::vector<std::string> bytes_text = number_column(bytes, kMebi), begins_text = number_column(begins, unit.seconds),
                                   ends_text = number_column(ends, unit.seconds);
    TextTable table;
    for (const char* header : {"op", "step", "stream"}) table.add_column(header, Align::right);
    table.add_column(to_string(phase), Align::left);
    table.add_column("sends or writes", Align::left);
    table.add_column("to", Align::left);
    table.add_column("from", Align::left);
    for (const std::string& header : {std::string("tokens"), std::string("MiB"), "begins " + unit.name, "ends " + unit.name})
      table.add_column(header, Align::right);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const RankOp& op = ops[i];
      table.add_row({std::to_string(op.op), std::to_string(op.step), std::to_string(op.stream), op.kind, role_list(op.roles),
                     rank_list(op.to, 12), rank_list(op.from, 12),
                     format_count(op.kind == "exchange" ? op.rows_sent + op.rows_received : op.rows_written), bytes_text[i],
                     begins_text[i], ends_text[i]});
    }
    text += text_of(table);
  }
  return text +
         "tokens and MiB: of an exchange, sent and received together; of a kernel, tokens of its result, bytes read and "
         "written\n";
}

std::string waits_text(const ExplainedPlan& explained) {
  std::string text =
      heading("waits", "what the end of each phase waited for, step by step (critical path), and who computes nothing");
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const PhaseExplanation& facts = phase_of(explained.explanation, phase);
    const double seconds = phase_of(explained.timeline, phase).seconds();
    text += to_string(phase) + " of attention: " + format_seconds(seconds) + "\n" + path_table(facts.critical_path) +
            rank_waits("most of all", facts.most_waiting, seconds) + rank_waits("least", facts.least_waiting, seconds);
  }
  return text;
}

std::string causes_text(const ExplainedPlan& explained) {
  const TimeCauses& forward = explained.explanation.forward.causes;
  const TimeCauses& backward = explained.explanation.backward.causes;
  std::vector<double> in_forward{forward.bound_seconds}, in_backward{backward.bound_seconds};
  for (const CauseName& cause : cause_names()) {
    in_forward.push_back(forward.*cause.seconds);
    in_backward.push_back(backward.*cause.seconds);
  }
  in_forward.push_back(forward.seconds);
  in_backward.push_back(backward.seconds);
  std::vector<double> sums;
  for (std::size_t i = 0; i < in_forward.size(); ++i) sums.push_back(in_forward[i] + in_backward[i]);
  const double above = sums.back() - sums.front();
  const TimeUnit unit = time_unit(sums.back());

  const std::vector<std::string> forward_text = number_column(in_forward, unit.seconds),
                                 backward_text = number_column(in_backward, unit.seconds),
                                 sums_text = number_column(sums, unit.seconds);
  TextTable table;
  table.add_column("", Align::left);
  for (const std::string& header :
       {"forward " + unit.name, "backward " + unit.name, "sum " + unit.name, std::string("of excess")})
    table.add_column(header, Align::right);
  table.add_column("", Align::left);
  table.add_row(
      {"lower bound", forward_text[0], backward_text[0], sums_text[0], "", "least work at the best rates, spread evenly"});
  std::size_t row = 1;
  for (const CauseName& cause : cause_names()) {
    table.add_row(
        {cause.name, forward_text[row], backward_text[row], sums_text[row], percent(sums[row], above), cause.meaning});
    ++row;
  }
  table.add_row({"predicted", forward_text[row], backward_text[row], sums_text[row], "",
                 "busiest: rank " + std::to_string(forward.busiest_rank) + " forward, rank " +
                     std::to_string(backward.busiest_rank) + " backward"});
  return heading("time above the lower bound",
                 "of the " + to_string(explained.plan.objective) + " by cause, as the rank with the most work sees it") +
         text_of(table);
}

}  // namespace hsap
