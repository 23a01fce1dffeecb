// What other planners achieved on the same instances: a table with the columns peer, id, P, plan_ms, t_layer_ms, t_layerh_ms
// and lb_layer_ms (planbench/peers.csv), any others beside them. An empty field means that it is not known.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hsap {

struct PeerResult {
  std::string peer;
  std::string instance;
  int ranks = 0;
  std::optional<double> planning_seconds;
  std::optional<double> direct_over_bound;        ///< modelled layer time over the compute bound
  std::optional<double> hierarchical_over_bound;  ///< the same with hierarchical exchange, where node needs are known

  /// The better known exchange.
  std::optional<double> over_bound() const;
};

/// Throws InvalidInput naming file, line and column.
std::vector<PeerResult> read_peers(const std::filesystem::path& file);

/// Prototypes of hsap's own placement stand in the table, too; they are no peers when the best one is asked for.
bool is_own_prototype(const std::string& peer);

}  // namespace hsap
