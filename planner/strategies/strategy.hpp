// What every strategy offers: which degrees it allows for a problem, why it refuses others, and its schedule.
// One file = one strategy. To add one: write planner/strategies/NAME.cpp and add its line to registry.cpp.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "planner/strategies/strategy_options.hpp"

namespace hsap {

/// The question put to a strategy: one attention layer on one packed batch over some ranks.
struct Problem {
  AttentionShape shape;
  DocumentMask mask;
  int ranks = 1;
  /// Fast domain of each rank, ascending; ranks of one are consecutive: the node, or an island that is larger or smaller.
  std::vector<int> node_of_rank;
  /// Pod of each rank, ascending: nodes that reach each other without the spine. Empty: one pod.
  std::vector<int> pod_of_rank = {};
  /// Head-parallel degrees need not divide the heads: some ranks then hold one head more.
  bool ragged_heads = false;
  /// Seconds of a token's linear work over seconds of a (query, key) pair in all heads, forward + backward (planner/cost/
  /// linear_work.hpp): what placement balances beside pairs. 0: attention alone.
  double pairs_per_token = 0;
  /// Seconds in which a rank takes in a key and value from another node, and its gradients back, over seconds of a pair. 0: not
  /// known.
  double pairs_per_entering_key = 0;

  /// All ranks wait for each other between attention and linear work, so tokens and pairs must each be balanced.
  bool barrier = false;
  /// Attention FLOP/s of each rank, or anything in proportion: faster ranks are given more work. Empty: all equal.
  std::vector<double> speed_of_rank = {};

  /// Consecutive ranks per node when all nodes have equally many, else nullopt.
  std::optional<int> uniform_ranks_per_node() const;

  /// Bytes that a rank has for communication buffers (communication_buffer_bytes()): strategies that can, offer option sets
  /// that need few. The search keeps it.
  double buffer_bytes = std::numeric_limits<double>::infinity();

  bool operator==(const Problem&) const = default;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string name() const = 0;
  /// One line for --help and tables.
  virtual std::string summary() const = 0;
  /// Which attention it serves.
  virtual bool serves(AttentionKind kind) const = 0;
  /// Degrees that lower() accepts for this problem, in a fixed order; empty when there are none.
  virtual std::vector<Degrees> degrees(const Problem& problem) const = 0;
  /// Names of the options that it has (strategy_options.hpp); lower() refuses others.
  virtual std::vector<std::string> options() const { return {}; }
  /// Published code that does not look at documents: attention, or the state, runs over the whole pack. What it would compute
  /// is its schedule for one document of all tokens.
  virtual bool published_ignores_documents() const { return false; }
  /// Option sets worth trying for these degrees; at least one.
  virtual std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const;
  /// More option sets worth trying where `good`, one of variants(), is among the fastest.
  virtual std::vector<StrategyOptions> refinements(const Problem& problem, const Degrees& degrees,
                                                   const StrategyOptions& good) const;
  /// `options` with no cap on the tokens of a rank, where they have one: what the cap costs is measured against that.
  virtual std::optional<StrategyOptions> without_token_cap(const Problem& problem, const StrategyOptions& options) const;
  /// The schedule, forward and backward. Throws InvalidInput when the degrees or options do not fit, naming those that would.
  Schedule lower(const Problem& problem, const Degrees& degrees, const StrategyOptions& options = {}) const;

 private:
  /// lower() for degrees() and options() that are known to be its own.
  virtual Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const = 0;
};

/// All strategies, in the order of the README's table.
const std::vector<const Strategy*>& all_strategies();
/// "ring, zigzag, ...": names of those that serve the kind.
std::string strategies_serving(AttentionKind kind);
/// Throws InvalidInput listing the names.
const Strategy& find_strategy(const std::string& name);

}  // namespace hsap
