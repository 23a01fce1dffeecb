// hsap-plan list: what is built in.
#include <CLI/CLI.hpp>
#include <iostream>

#include "planner/inputs/cluster_topology.hpp"
#include "planner/inputs/document_lengths.hpp"
#include "planner/inputs/model_shape.hpp"
#include "planner/ir/units.hpp"
#include "planner/strategies/strategy.hpp"
#include "tools/data_files.hpp"
#include "tools/plan/commands.hpp"
#include "tools/planning_inputs.hpp"
#include "tools/text_table.hpp"

namespace hsap {

namespace {

class Listing {
 public:
  explicit Listing(const std::string& title) : title_(title) {
    table_.add_column("", Align::left);
    table_.add_column("", Align::left);
  }
  void add(const std::string& name, const std::string& text) { table_.add_row({"  " + name, text}); }
  void print() const {
    std::cout << title_ << '\n';
    for (const std::string& line : table_.lines()) std::cout << line << '\n';
  }

 private:
  std::string title_;
  TextTable table_;
};

void list_strategies() {
  Listing listing("Strategies (--strategy)");
  for (const Strategy* strategy : all_strategies()) {
    const bool softmax = strategy->serves(AttentionKind::softmax);
    const bool linear = strategy->serves(AttentionKind::linear);
    listing.add(strategy->name(), strategy->summary() + (softmax && linear ? "; also linear attention"
                                                         : softmax         ? ""
                                                                           : "; not softmax"));
    std::string options;
    for (const std::string& name : strategy->options()) options += (options.empty() ? "options: --" : ", --") + name;
    if (strategy->published_ignores_documents())
      options += options.empty() ? "as published it ignores documents" : "; as published it ignores documents";
    if (!options.empty()) listing.add("", options);
  }
  listing.print();
}

void list_clusters() {
  Listing listing("Clusters (--cluster)");
  for (const std::string& name : data_names(DataKind::cluster)) {
    const ClusterTopology cluster = ClusterTopology::read(data_file(DataKind::cluster, name));
    listing.add(name, std::to_string(cluster.gpus()) + " GPUs (" + device_names(cluster) + "), " +
                          std::to_string(cluster.nodes()) + (cluster.nodes() == 1 ? " node" : " nodes"));
  }
  listing.print();
}

void list_models() {
  Listing listing("Models (--model)");
  for (const std::string& name : model_preset_names()) {
    const ModelShape model = model_preset(name);
    std::string label = name;
    for (const LayerKind& kind : model.kinds) {
      listing.add(label, std::to_string(kind.layers.size()) + " x " + kind.name + ": " + describe(kind.attention));
      label.clear();
    }
  }
  listing.print();
}

void list_lengths() {
  Listing listing("Document lengths (--lengths)");
  for (const std::string& name : data_names(DataKind::lengths)) {
    const LengthSource source = read_document_lengths(data_file(DataKind::lengths, name));
    if (source.histogram)
      listing.add(name, "histogram of " + std::to_string(source.histogram->buckets.size()) + " ranges, " +
                            format_count(source.histogram->buckets.front().shortest) + " to " +
                            format_count(source.histogram->buckets.back().longest) + " tokens");
    else
      listing.add(name, format_count(static_cast<long long>(source.lengths.size())) + " documents");
  }
  listing.print();
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List strategies, built-in clusters, models and document lengths");
  command->footer("Example:\n  hsap-plan list");
  command->callback([] {
    list_strategies();
    list_clusters();
    list_models();
    list_lengths();
  });
}

}  // namespace hsap
