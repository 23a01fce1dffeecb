// The evaluator of placements gives what the benchmark's own evaluator gave for the published placements that we have too:
// equal contiguous shards, and head-tail over the whole pack.
#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/csv_reader.hpp"
#include "planner/placement/measures/layer_seconds.hpp"
#include "tests/corpus/planbench.hpp"

namespace hsap {
namespace {

/// The rows of peers.csv, by column.
std::vector<std::map<std::string, std::string>> peers() {
  const std::string file = test::planbench("peers.csv").string();
  const std::string text = read_input_text(file);
  CsvReader reader(text, file, 1);
  std::vector<std::string> header;
  std::vector<std::string> record;
  reader.next(header);
  std::vector<std::map<std::string, std::string>> rows;
  while (reader.next(record)) {
    rows.emplace_back();
    for (std::size_t i = 0; i < record.size(); ++i) rows.back()[header.at(i)] = record[i];
  }
  return rows;
}

/// Head-tail over the pack is zigzag of one document of all tokens.
Placement place_as(const std::string& peer, const DocumentMask& mask, int ranks) {
  return peer == "contiguous" ? place_contiguous(mask, ranks) : place_zigzag(DocumentMask({0, mask.tokens()}), ranks);
}

TEST_CASE("traffic corpus: contiguous and head-tail placements measure as in the benchmark's table") {
  constexpr int kPerNode = 8;
  const auto inputs = test::planbench_inputs();
  int compared = 0;
  for (const auto& row : peers()) {
    const std::string& peer = row.at("peer");
    if (peer != "contiguous" && peer != "perseq_headtail") continue;
    const DocumentMask mask = test::mask_of_lengths(test::read_lengths(inputs.at(row.at("id"))));
    const int ranks = std::stoi(row.at("P"));
    CAPTURE(peer, row.at("id"), ranks);
    const Traffic traffic = measure_traffic(mask, place_as(peer, mask, ranks), kPerNode);
    const auto equals = [&](const char* name, double value) {
      CAPTURE(name);
      CHECK(value == Approx(std::stod(row.at(name))).epsilon(1e-5));  // the table has six digits
    };
    const auto most_from_others = std::max_element(
        traffic.ranks.begin(), traffic.ranks.end(),
        [](const RankTraffic& a, const RankTraffic& b) { return a.received_from_other_nodes < b.received_from_other_nodes; });
    equals("imb_area", traffic.cost_over_mean(0));
    equals("imb_tok", traffic.tokens_over_mean());
    equals("imb_cost", traffic.cost_over_mean(kLlama3Layer.pairs_per_token()));
    equals("recv_max", static_cast<double>(traffic.most_received()));
    equals("recv_total", static_cast<double>(traffic.received()));
    equals("inter_max", static_cast<double>(most_from_others->received_from_other_nodes));
    equals("node_in_max", static_cast<double>(*std::max_element(traffic.into_nodes.begin(), traffic.into_nodes.end())));
    equals("node_in_total", static_cast<double>(traffic.entered()));
    equals("t_layer_ms", layer_seconds(traffic, kLlama3Layer, KvExchange::direct) * 1e3);
    equals("t_layerh_ms", layer_seconds(traffic, kLlama3Layer, KvExchange::hierarchical) * 1e3);
    ++compared;
  }
  std::cout << "traffic corpus: " << compared << " placements compared\n";
  CHECK(compared > 160);
}

}  // namespace
}  // namespace hsap
