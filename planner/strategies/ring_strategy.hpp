// What strategies of one flat ring share: every rank of the batch in one ring (ring_pass.hpp); they differ in who holds which
// tokens and in what backward passes round.
#pragma once

#include <string>

#include "planner/placement/placement.hpp"
#include "planner/strategies/ring_pass.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

class RingStrategy : public Strategy {
 public:
  using Place = Placement (*)(const DocumentMask& mask, int ranks);
  using Split = RingPlace (*)(ProgramBuilder& builder, const View& view);
  RingStrategy(std::string name, std::string summary, Place place, Split split);

  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"dkv-dtype", "kv"}; }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override;
  /// Forward and backward of the ring.
  virtual void run(ProgramBuilder& builder, std::vector<RingPlace> places, const StrategyOptions& options) const;

  std::string name_, summary_;
  Place place_;
  Split split_;
};

/// Gradients in fp32 and K, V sent again, unless the options say otherwise.
RingRules ring_rules(const StrategyOptions& options);

}  // namespace hsap
