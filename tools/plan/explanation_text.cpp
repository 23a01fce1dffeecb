#include "tools/plan/explanation_text.hpp"

#include <algorithm>
#include <cmath>

#include "planner/ir/units.hpp"
#include "tools/plan/explanation_time_text.hpp"
#include "tools/plan/explanation_words.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

constexpr std::size_t kRoundsShown = 8;
constexpr std::size_t kTermsShown = 5;

std::string count_text(std::size_t count) { return format_count(static_cast<long long>(count)); }

std::string what_it_is(const ExplainedPlan& explained) {
  const PlanFile& plan = explained.plan;
  const DocumentMask documents = plan.batch_mask();
  const std::size_t nodes = explained.cluster.nodes();
  std::string text;
  const auto add = [&](const char* label, const std::string& line) { text += labelled(label, 11, line) + "\n"; };
  add("plan", describe(plan.schedule.strategy, plan.schedule.degrees, plan.options) + " on " +
                  count_text(plan.schedule.ranks.size()) + " ranks");
  add("layer", plan.model + ", " + plan.layer + " attention: " + describe(plan.schedule.shape));
  add("mask", to_string(plan.schedule.mask.rule()));
  add("batch", plan.recipe.lengths + ", seed " + std::to_string(plan.recipe.seed) + ", batch " +
                   std::to_string(plan.recipe.batch) + ": " + format_count(documents.tokens()) + " tokens in " +
                   count_text(documents.documents()) + (documents.documents() == 1 ? " document" : " documents"));
  add("cluster", explained.cluster.name() + ": " + count_text(explained.cluster.gpus()) + " GPUs (" +
                     device_names(explained.cluster) + ") on " + count_text(nodes) + (nodes == 1 ? " node" : " nodes"));
  const std::string layer = plan.objective == Objective::attention
                                ? ""
                                : "; layer " + format_seconds(explained.explanation.forward.causes.seconds) + " forward, " +
                                      format_seconds(explained.explanation.backward.causes.seconds) + " backward";
  add("predicted", "attention " + format_seconds(explained.timeline.forward.seconds()) + " forward, " +
                       format_seconds(explained.timeline.backward.seconds()) + " backward" + layer + " (" +
                       explained.evaluator + "); " + to_string(plan.objective) + " is " +
                       format_number(explained.seconds() / explained.bound_seconds(), 2) + " times the lower bound");
  if (plan.contaminated)
    add("wrong",
        "contaminated: the schedule is made for one document of all tokens, as published code is that does not look at "
        "documents; queries see keys of other documents");
  return text;
}

std::string documents_table(const ExplainedPlan& explained) {
  const std::vector<DocumentPlacement>& documents = explained.explanation.placement.documents;
  const std::size_t shown = std::min(documents.size(), explained.documents);
  TextTable table;
  for (const char* header : {"document", "tokens", "held by", "pieces", "largest share"})
    table.add_column(header, Align::right);
  table.add_column("ranks", Align::left);
  for (std::size_t i = 0; i < shown; ++i) {
    const DocumentPlacement& d = documents[i];
    table.add_row({count_text(d.document), format_count(d.tokens), count_text(d.ranks.size()), count_text(d.pieces),
                   percent(static_cast<double>(d.largest_share), static_cast<double>(d.tokens)) + " on " +
                       std::to_string(d.largest_share_rank),
                   rank_list(d.ranks, 40)});
  }
  return (shown > 0 ? text_of(table) : "") + and_more(documents.size(), shown);
}

std::string spreads_table(const PlacementFacts& placement) {
  TextTable table;
  table.add_column("each rank has", Align::left);
  for (const char* header : {"least", "on rank", "mean", "most", "on rank", "most / mean"})
    table.add_column(header, Align::right);
  const auto add = [&](const char* name, const std::vector<double>& values) {
    const Spread spread = spread_of(values);
    table.add_row({name, format_number(spread.least, 0), std::to_string(spread.least_rank), format_number(spread.mean, 0),
                   format_number(spread.most, 0), std::to_string(spread.most_rank), format_number(spread.imbalance(), 3)});
  };
  add("tokens", placement.tokens_owned);
  add("pairs", placement.pairs_computed);
  return text_of(table);
}

std::string placement(const ExplainedPlan& explained) {
  const PlacementFacts& facts = explained.explanation.placement;
  return heading("placement", "which ranks own the tokens of the longest documents") + documents_table(explained) +
         count_text(facts.documents_on_one_rank) + " of " + count_text(facts.documents.size()) +
         " documents lie whole on one rank\n\n" + spreads_table(facts) +
         "pairs: (query, key) pairs of a rank's attention ops, per query head of the layer\n";
}

/// Rounds of consecutive steps that are alike; the numbers are those of the first.
struct LikeRounds {
  RoundTraffic first;
  int last_step = 0;
};

/// Equal but for the step, bytes within 1 % (shards differ by a token).
bool alike(const RoundTraffic& a, const RoundTraffic& b) {
  const auto near = [](double x, double y) { return std::abs(x - y) <= 0.01 * std::max(x, y); };
  return a.stream == b.stream && a.roles == b.roles && a.senders == b.senders && a.most_peers == b.most_peers &&
         a.messages == b.messages && a.messages_between_nodes == b.messages_between_nodes && near(a.bytes, b.bytes) &&
         near(a.largest_bytes, b.largest_bytes) && near(a.bytes_between_nodes, b.bytes_between_nodes);
}

/// Most bytes of a round first.
std::vector<LikeRounds> like_rounds(const std::vector<RoundTraffic>& rounds) {
  std::vector<LikeRounds> result;
  for (const RoundTraffic& round : rounds) {  // ascending in steps, few of each step
    const auto known = std::find_if(result.begin(), result.end(), [&](const LikeRounds& like) {
      return like.last_step + 1 == round.step && alike(like.first, round);
    });
    if (known == result.end())
      result.push_back({round, round.step});
    else
      known->last_step = round.step;
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const LikeRounds& a, const LikeRounds& b) { return a.first.bytes > b.first.bytes; });
  return result;
}

std::string rounds_table(const PhaseTraffic& traffic) {
  std::vector<LikeRounds> rounds = like_rounds(traffic.rounds);
  const std::size_t all = rounds.size();
  rounds.resize(std::min(all, kRoundsShown));
  std::vector<double> bytes, between, largest;
  for (const LikeRounds& like : rounds) {
    bytes.push_back(like.first.bytes);
    between.push_back(like.first.bytes_between_nodes);
    largest.push_back(like.first.largest_bytes);
  }
  const std::vector<std::string> bytes_text = number_column(bytes, kMebi), between_text = number_column(between, kMebi),
                                 largest_text = number_column(largest, kMebi);
  TextTable table;
  table.add_column("step", Align::right);
  table.add_column("stream", Align::right);
  table.add_column("each carries", Align::left);
  for (const char* header : {"ranks\nsend", "to at\nmost", "messages", "MiB", "between nodes\nmessages", "MiB", "largest\nMiB"})
    table.add_column(header, Align::right);
  table.add_column("from, to", Align::left);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const RoundTraffic& round = rounds[i].first;
    const std::string steps = rounds[i].last_step == round.step ? "" : "-" + std::to_string(rounds[i].last_step);
    table.add_row({std::to_string(round.step) + steps, std::to_string(round.stream), role_list(round.roles),
                   count_text(round.senders), count_text(round.most_peers), count_text(round.messages), bytes_text[i],
                   count_text(round.messages_between_nodes), between_text[i], largest_text[i],
                   std::to_string(round.largest_from) + ", " + std::to_string(round.largest_to)});
  }
  return text_of(table) + and_more(all, rounds.size());
}

std::string exchange(const ExplainedPlan& explained) {
  std::string text = heading("exchange", "what is sent in one step, most bytes first; like steps share a row");
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const PhaseTraffic& traffic = phase_of(explained.explanation, phase).traffic;
    if (traffic.messages == 0) {
      text += to_string(phase) + ": nothing is sent\n";
      continue;
    }
    const Spread sent = spread_of(traffic.bytes_sent);
    text += to_string(phase) + ": " + count_text(traffic.messages) + " messages, " + format_bytes(traffic.bytes) + ", " +
            format_bytes(traffic.bytes_between_nodes) + " of them between nodes; rank " + std::to_string(sent.most_rank) +
            " sends most, " + format_bytes(sent.most) + "\n" + rounds_table(traffic);
  }
  return text;
}

std::string memory(const ExplainedPlan& explained) {
  const MemoryFacts& facts = explained.explanation.memory;
  const Schedule& schedule = explained.plan.schedule;
  const std::size_t shown = std::min(facts.terms.size(), kTermsShown);
  std::vector<double> bytes;
  double rest = 0;
  for (std::size_t i = 0; i < shown; ++i) bytes.push_back(facts.terms[i].bytes);
  for (std::size_t i = shown; i < facts.terms.size(); ++i) rest += facts.terms[i].bytes;
  const std::vector<std::string> bytes_text = number_column(bytes, kMebi);
  TextTable table;
  table.add_column("buffer", Align::left);
  for (const char* header : {"tokens", "heads", "MiB", "share"}) table.add_column(header, Align::right);
  table.add_column("kept", Align::left);
  for (std::size_t i = 0; i < shown; ++i) {
    const Buffer& buffer = schedule.buffer(facts.rank, facts.terms[i].buffer);
    table.add_row({buffer.name.text(), format_count(schedule.tokens(buffer.tokens).size()), std::to_string(buffer.heads.size()),
                   bytes_text[i], percent(facts.terms[i].bytes, facts.use.peak_bytes),
                   facts.terms[i].saved ? "for backward" : ""});
  }
  return heading("memory", "of rank " + std::to_string(facts.rank) + ", which needs most: " +
                               format_bytes(facts.use.peak_bytes) + " at its peak in " + to_string(facts.use.peak_phase) +
                               ", " + format_bytes(facts.use.saved_bytes) + " kept for backward") +
         text_of(table) + and_more(facts.terms.size(), shown, " with " + format_bytes(rest));
}

}  // namespace

std::string explanation_text(const ExplainedPlan& explained) {
  return what_it_is(explained) + placement(explained) + exchange(explained) + program_text(explained) + waits_text(explained) +
         memory(explained) + causes_text(explained);
}

}  // namespace hsap
