// What ring and zigzag share: every rank of the batch in one ring (ring_pass.hpp); they differ in who holds which tokens.
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
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  Schedule lower(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override;

 private:
  std::string name_, summary_;
  Place place_;
  Split split_;
};

}  // namespace hsap
