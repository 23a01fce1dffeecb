#include "tools/plan/packing_text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "planner/ir/units.hpp"
#include "tools/terminal.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

constexpr double kMilli = 1e-3;
constexpr double kGiga = 1e9;
constexpr std::size_t kLabel = 11;
/// Rows of the chosen packing that are shown; coarser rows are taken where there would be more.
constexpr std::size_t kMostRows = 32;

std::string mesh_text(const Mesh& mesh) { return std::to_string(mesh.replicas) + "x" + std::to_string(mesh.ranks); }
std::string scheme_text(const Mesh& mesh) { return mesh.replicas == 1 ? "pool" : "replicas"; }
std::string count_text(std::size_t count) { return format_count(static_cast<long long>(count)); }
/// With one decimal, and no sign before what rounds to nothing.
std::string percent_text(double part) { return format_number(std::abs(part) < 5e-4 ? 0 : 100 * part, 1) + " %"; }

void print_lines(std::ostream& out, const TextTable& table, std::size_t bold_row) {
  const std::vector<std::string> lines = table.lines();
  for (std::size_t line = 0; line < lines.size(); ++line)
    out << (line == table.header_lines() + bold_row ? bold(lines[line]) : lines[line]) << '\n';
}

/// Milliseconds, with the decimals that all of a table need.
class Milliseconds {
 public:
  void consider(double seconds) { values_.push_back(seconds / kMilli); }
  std::string text(double seconds) const { return format_number(seconds / kMilli, decimals_for(values_)); }

 private:
  std::vector<double> values_;
};

void print_meshes(std::ostream& out, const PackRun& run, const std::string& evaluator) {
  const bool planned = evaluator != "none";
  const auto batches = static_cast<double>(run.batches.lengths.size());
  TextTable table;
  table.add_column("scheme", Align::left);
  for (const char* header : {"\n\nDPxSP", "\ntokens\n/ rank", "most\nmicro-\nbatches", "\ncost\n/ mean", "\ntokens\n/ mean",
                             "model\nstep\nms", "\nfirst-fit\nms", "\n\ngain", "\ntimes\nbound"})
    table.add_column(header, Align::right);
  if (planned)
    for (const std::string& header : {evaluator + "\nstep\nms", std::string("\nfirst-fit\nms"), std::string("\n\ngain")})
      table.add_column(header, Align::right);
  Milliseconds ms;
  for (const MeshResult& mesh : run.result.meshes)
    if (mesh.works())
      for (const auto* steps : {&mesh.packed, &mesh.first_fit}) ms.consider(modelled_seconds(*steps) / batches);

  std::size_t rows = 0, chosen = 0;
  for (std::size_t m = 0; m < run.result.meshes.size(); ++m) {
    const MeshResult& mesh = run.result.meshes[m];
    if (!mesh.works()) continue;
    if (m == *run.result.chosen) chosen = rows;
    ++rows;
    const Balance balance = balance_of(mesh.packed, run);
    const double packed = modelled_seconds(mesh.packed), first_fit = modelled_seconds(mesh.first_fit);
    std::vector<std::string> cells = {
        scheme_text(mesh.mesh),
        mesh_text(mesh.mesh),
        format_count(mesh.tokens_per_rank),
        count_text(most_micro_batches(mesh.packed)),
        format_number(balance.cost, 3),
        format_number(balance.tokens, 2),
        ms.text(packed / batches),
        ms.text(first_fit / batches),
        percent_text(gain_over(first_fit, packed)),
        format_number(packed / mesh.bound_seconds, 3),
    };
    if (planned) {
      cells.push_back(ms.text(total_seconds(mesh.packed) / batches));
      cells.push_back(ms.text(total_seconds(mesh.first_fit) / batches));
      cells.push_back(percent_text(gain_over(total_seconds(mesh.first_fit), total_seconds(mesh.packed))));
    }
    table.add_row(std::move(cells));
  }
  print_lines(out, table, chosen);
  for (const MeshResult& mesh : run.result.meshes)
    if (!mesh.works()) out << labelled("refused", kLabel, mesh.refusal) << '\n';
}

/// One row of the chosen packing: a micro-batch, a replica or a batch.
struct Row {
  std::string batch, replica, micro_batch;
  Share share;
  double modelled = 0;
  std::optional<double> planned;
  std::string degrees;
};

Row& operator+=(Row& sum, const Row& row) {
  sum.share += row.share;
  sum.modelled += row.modelled;
  if (row.planned) sum.planned = sum.planned.value_or(0) + *row.planned;
  return sum;
}

std::vector<Row> micro_batch_rows(const PackRun& run, std::size_t b, std::size_t replica) {
  const PackedStep& step = run.chosen().packed[b];
  std::vector<Row> rows;
  for (std::size_t m = 0; m < step.packing[replica].size(); ++m) {
    Row row{std::to_string(run.batches.first + b),
            std::to_string(replica),
            std::to_string(m),
            share_of(step.packing[replica][m], run.batches.lengths[b], run.costs),
            step.seconds[replica][m],
            {},
            "-"};
    if (step.planned) {
      row.planned = step.planned->replicas[replica][m].seconds;
      row.degrees = to_string(step.planned->replicas[replica][m].degrees);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Row replica_row(const PackRun& run, std::size_t b, std::size_t replica) {
  Row sum{std::to_string(run.batches.first + b), std::to_string(replica), "all", {}, 0, {}, "-"};
  for (const Row& row : micro_batch_rows(run, b, replica)) sum += row;
  return sum;
}

/// Micro-batches where they are few, else replicas, else batches, whose time is that of their longest replica.
std::vector<Row> chosen_rows(const PackRun& run) {
  const std::vector<PackedStep>& steps = run.chosen().packed;
  std::vector<Row> micro_batches, replicas, batches;
  for (std::size_t b = 0; b < steps.size(); ++b) {
    Row batch{std::to_string(run.batches.first + b), "all", "all", {}, steps[b].step_seconds(), {}, "-"};
    for (std::size_t r = 0; r < steps[b].packing.size(); ++r) {
      for (Row& row : micro_batch_rows(run, b, r)) micro_batches.push_back(std::move(row));
      replicas.push_back(replica_row(run, b, r));
      batch.share += replicas.back().share;
    }
    if (steps[b].planned) batch.planned = steps[b].planned->seconds();
    batches.push_back(std::move(batch));
  }
  if (micro_batches.size() <= kMostRows) return micro_batches;
  return replicas.size() <= kMostRows ? replicas : batches;
}

void print_chosen(std::ostream& out, const PackRun& run) {
  std::vector<Row> rows = chosen_rows(run);
  const std::size_t all = rows.size();
  rows.resize(std::min(all, kMostRows));
  const bool planned = rows.front().planned.has_value();
  TextTable table;
  for (const char* header : {"global\nbatch", "\nreplica", "micro-\nbatch", "\ndocuments", "\ntokens", "longest\ndocument",
                             "pairs\n1e9", "work\n/ tokens", "model\nms"})
    table.add_column(header, Align::right);
  if (planned) {
    table.add_column("planned\nms", Align::right);
    table.add_column("\ndegrees", Align::right);
  }
  Milliseconds ms;
  std::vector<double> pairs;
  Share sum;
  for (const Row& row : rows) {
    ms.consider(row.modelled);
    pairs.push_back(static_cast<double>(row.share.pairs) / kGiga);
    sum += row.share;
  }
  const double mean = sum.cost / static_cast<double>(sum.tokens);
  for (const Row& row : rows) {
    std::vector<std::string> cells = {
        row.batch,
        row.replica,
        row.micro_batch,
        count_text(row.share.documents),
        format_count(row.share.tokens),
        format_count(row.share.longest),
        format_number(static_cast<double>(row.share.pairs) / kGiga, decimals_for(pairs)),
        row.share.tokens > 0 ? format_number(row.share.cost / static_cast<double>(row.share.tokens) / mean, 2) : "-",
        ms.text(row.modelled)};
    if (planned) {
      cells.push_back(ms.text(*row.planned));
      cells.push_back(row.degrees);
    }
    table.add_row(std::move(cells));
  }
  print_lines(out, table, table.lines().size());
  if (all > rows.size()) out << "... and " << count_text(all - rows.size()) << " more; --json has all\n";
}

void print_gain(std::ostream& out, const PackRun& run, const std::string& evaluator) {
  const auto batches = static_cast<double>(run.batches.lengths.size());
  const MeshResult& chosen = run.chosen();
  const double seconds = total_seconds(chosen.packed);
  const bool planned = evaluator != "none";
  const auto add = [&](const std::string& label, const std::string& text) { out << labelled(label, kLabel, text) << '\n'; };
  add("chosen", bold(scheme_text(chosen.mesh) + ", DP " + std::to_string(chosen.mesh.replicas) + " x SP " +
                     std::to_string(chosen.mesh.ranks) + ": " + format_seconds(seconds / batches) +
                     " of a step in each layer (" + (planned ? evaluator : "step model") + ")") +
                    (planned ? ", " + format_seconds(modelled_seconds(chosen.packed) / batches) + " by the step model" : ""));
  std::string gain = percent_text(gain_over(total_seconds(chosen.first_fit), seconds)) + " over first-fit on the same ranks";
  const std::size_t other = *run.result.best_first_fit();
  if (other != *run.result.chosen) {
    const MeshResult& mesh = run.result.meshes[other];
    gain += ", " + percent_text(gain_over(total_seconds(mesh.first_fit), seconds)) +
            " over the best first-fit with replicas (DP " + std::to_string(mesh.mesh.replicas) + " x SP " +
            std::to_string(mesh.mesh.ranks) + ", " + format_seconds(total_seconds(mesh.first_fit) / batches) + ")";
  }
  add("gain", gain);
  add("bound", format_seconds(chosen.bound_seconds / batches) +
                   ": no packing on this mesh is faster in the step model, which this one exceeds by " +
                   format_number(100 * (modelled_seconds(chosen.packed) / chosen.bound_seconds - 1), 2) + " %");
}

void print_memory(std::ostream& out, const PackRun& run, const PackOptions& options) {
  const MeshResult& chosen = run.chosen();
  std::string text;
  if (options.tokens_per_rank) {
    text = format_count(chosen.tokens_per_rank) + " tokens per rank, as asked for";
  } else {
    const RankMemory memory = rank_memory(run.layer.model, run.layer.kind, run.cluster.topology, chosen.mesh.ranks);
    text = "room for " + format_count(chosen.tokens_per_rank) + " tokens per rank: " + percent_text(kUsableMemory) +
           " of the GPU, " + format_bytes(memory.bytes) + ", less " + format_bytes(memory.state_bytes) +
           " of states (weights and gradients sharded over a replica, Adam over all ranks: assumed), at " +
           format_bytes(memory.bytes_per_token) +
           " per token (inputs of all layers, the rest recomputed: assumed; one layer's attention and linear outputs). "
           "Embeddings, logits and experts that a token does not visit are not counted; --tokens-per-rank says it better";
  }
  Token most = 0;
  double peak = 0;
  for (const PackedStep& step : chosen.packed)
    if (step.planned) {
      most = std::max(most, step.planned->most_tokens());
      peak = std::max(peak, step.planned->peak_memory_bytes());
    }
  if (most > 0)
    text += ". The plans hold at most " + format_count(most) + " tokens on a rank, one layer's attention " +
            format_bytes(peak) + " at peak, received keys included";
  out << labelled("memory", kLabel, text) << '\n';
}

void print_meaning(std::ostream& out, const PackRun& run, const std::string& evaluator) {
  out << wrapped(
             "Step: one layer, forward + backward, all micro-batches of the longest replica; replicas meet at the step's end "
             "only; "
             "mean of the global batches. Model: attention and linear work at their best rates, spread evenly over the ranks "
             "of a "
             "replica, and the fewest keys that must move. First-fit: documents in their order into sequences of one length, "
             "dealt "
             "out to the replicas. Cost is attention and linear work of a replica, tokens what it trains on.",
             kLineWidth, 0)
      << '\n';
  if (evaluator == "none") return;
  out << wrapped("Times by " + evaluator +
                     ": every micro-batch really planned by strategy hsap on its replica, the best of its degrees; "
                     "replicas do not disturb each other.",
                 kLineWidth, 0)
      << '\n';
  std::istringstream sources(run.kernel_provenance);
  for (std::string line; std::getline(sources, line);) out << wrapped("Kernel times: " + line, kLineWidth, 4) << '\n';
}

}  // namespace

std::string packing_text(const PackRun& run, const PackOptions& options) {
  std::ostringstream out;
  print_meshes(out, run, options.evaluator);
  out << '\n';
  print_chosen(out, run);
  out << '\n';
  print_gain(out, run, options.evaluator);
  print_memory(out, run, options);
  print_meaning(out, run, options.evaluator);
  return out.str();
}

}  // namespace hsap
