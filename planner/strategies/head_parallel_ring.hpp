// What usp, te-a2a-p2p and double-ring share: Ulysses inside groups of U consecutive ranks, and between the R groups one ring
// per member, over zigzag shards of the groups; they differ in how that ring runs.
#pragma once

#include <string>
#include <vector>

#include "planner/strategies/ring_member.hpp"
#include "planner/strategies/strategy.hpp"

namespace hsap {

class HeadParallelRing : public Strategy {
 public:
  HeadParallelRing(std::string name, std::string summary);
  std::string name() const override { return name_; }
  std::string summary() const override { return summary_; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::softmax; }
  std::vector<Degrees> degrees(const Problem& problem) const override;

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override;
  /// Forward and backward of the ring of one member of every group.
  virtual void run(ProgramBuilder& builder, std::vector<RingPlace> places, const Problem& problem, const Degrees& degrees,
                   const StrategyOptions& options) const = 0;

  std::string name_, summary_;
};

}  // namespace hsap
