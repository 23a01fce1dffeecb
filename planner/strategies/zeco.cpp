// zeco: linear attention on contiguous shards, states handed on by a pipelined scan (ZeCO's All-Scan, arXiv 2507.01004; known
// to us second-hand, from what others write of it). Every rank sums up its own rows first, so that inside
// the chain a hop only adds two states; and the state travels in K blocks of kv heads, so that while one block is under way the
// one before it is added and sent on: tau + (P-1) tau / K for a state that takes tau to send. Bytes as lasp's: one state per
// direction and straddled boundary.
//
// The adds need the compute stream, which attention holds. So the rank at hop i of n attends i/n of its heads before it adds
// and the others after (our choice): the scan moves along under the attention of all ranks where that is long enough.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"
#include "planner/strategies/shard_states.hpp"

namespace hsap {

namespace {

constexpr int kMostStages = 8;              // as many blocks at most: below that messages are latency
constexpr int kSendStream = 2;              // a block is sent while the next comes in on kCommunicationStream
constexpr int kAttention = 0, kStates = 1;  // steps; block b of the states is step kStates + b

class StateScan {
 public:
  StateScan(ProgramBuilder& builder, std::vector<Shard> shards, int stages)
      : builder_(builder), shards_(std::move(shards)), stages_(stages) {}

  void run(Phase phase) {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      Shard& shard = shards_[i];
      std::optional<Slice> state;
      if (shard.entry(phase))
        state = shard.add_state(phase, shard.entry(phase)->beyond, phase == Phase::forward ? "before" : "after");
      if (shard.is_passed_through())
        pass_on(phase, i, *state);
      else
        start_and_end(phase, i, state);
      if (phase == Phase::backward) shard.apply_kept(kStates);
      if (state) shard.apply(phase, kStates, *state);
    }
  }

 private:
  /// The shard ends one document's scan, or starts another's, or both: nothing that comes in goes out.
  void start_and_end(Phase phase, std::size_t i, const std::optional<Slice>& state) {
    if (shards_[i].exit(phase)) {
      const Slice own = shards_[i].sum_rows(phase, kStates);
      for (int b = 0; b < stages_; ++b) send(phase, i, b, own);
    }
    for (int b = 0; b < stages_ && state; ++b) receive(phase, i, b, *state);
    shards_[i].attend(phase, kAttention);
  }

  /// The shard is in the middle of a document's scan.
  void pass_on(Phase phase, std::size_t i, const Slice& state) {
    Shard& shard = shards_[i];
    const bool forward = phase == Phase::forward;
    const Slice own = shard.sum_rows(phase, kStates);
    const Slice total = shard.add_state(phase, shard.passed_on(phase), "passed on");
    const int group = builder_.shape().queries_per_kv_head();
    const HeadRange heads{shard.kv_heads().begin * group, shard.kv_heads().end * group};
    const int cut = heads.begin + heads_before_adding(phase, i) * group;
    if (cut > heads.begin) shard.attend(phase, kAttention, {heads.begin, cut});
    for (int b = 0; b < stages_; ++b) {
      const Slice came = block(i, state, b), mine = block(i, own, b);
      receive(phase, i, b, state);
      builder_.compute(shard.rank(), phase, kStates + b,
                       StateSum{forward ? std::vector{came, mine} : std::vector{mine, came}, block(i, total, b)});
      send(phase, i, b, total);
    }
    if (cut < heads.end) shard.attend(phase, kAttention, {cut, heads.end});
  }

  /// Of the shard's kv heads, as many as its place on the way of the state through the document.
  int heads_before_adding(Phase phase, std::size_t i) const {
    const Shard& shard = shards_[i];
    const TokenRange left = shard.entry(Phase::forward)->beyond, right = shard.entry(Phase::backward)->beyond;
    const ShardRange holders = holders_of(shards_, {left.begin, right.end});
    const std::size_t hops = holders.size() - 1;
    const std::size_t hop = phase == Phase::forward ? i - holders.begin : holders.end - 1 - i;
    return static_cast<int>(static_cast<std::size_t>(shard.kv_heads().size()) * hop / hops);
  }

  /// Block b of a state of shard i: its kv heads.
  Slice block(std::size_t i, const Slice& state, int b) const {
    const HeadRange heads = shards_[i].kv_heads();
    const int size = heads.size() / stages_;
    return {state.buffer, state.tokens, {heads.begin + b * size, heads.begin + (b + 1) * size}};
  }

  void send(Phase phase, std::size_t i, int b, const Slice& state) {
    const RankId to = shards_[phase == Phase::forward ? i + 1 : i - 1].rank();
    builder_.add(shards_[i].rank(), phase, kSendStream, kStates + b, Exchange{{{to, {block(i, state, b)}}}, {}});
  }
  void receive(Phase phase, std::size_t i, int b, const Slice& state) {
    const RankId from = shards_[phase == Phase::forward ? i - 1 : i + 1].rank();
    builder_.communicate(shards_[i].rank(), phase, kStates + b, Exchange{{}, {{from, {block(i, state, b)}}}});
  }

  ProgramBuilder& builder_;
  std::vector<Shard> shards_;
  const int stages_;
};

class Zeco : public Strategy {
 public:
  std::string name() const override { return "zeco"; }
  std::string summary() const override { return "linear attention, states handed on block by block in a pipelined scan"; }
  bool serves(AttentionKind kind) const override { return kind == AttentionKind::linear; }
  bool published_ignores_documents() const override { return true; }
  std::vector<Degrees> degrees(const Problem& problem) const override { return {{1, problem.ranks}}; }
  std::vector<std::string> options() const override { return {"stages"}; }

  std::vector<StrategyOptions> variants(const Problem& problem, const Degrees& degrees) const override {
    if (degrees.inter <= 2) return {{.placement = {}, .stages = 1}};  // nothing is passed on, so nothing is pipelined
    std::vector<StrategyOptions> result;
    for (const int stages : stages_of(problem.shape)) result.push_back({.placement = {}, .stages = stages});
    return result;
  }

 private:
  Schedule compile(const Problem& problem, const Degrees& degrees, const StrategyOptions& options) const override {
    const std::vector<int> valid = stages_of(problem.shape);
    const int stages = options.stages > 0 ? options.stages : valid.back();
    if (problem.shape.kv_heads % stages != 0) {
      std::string works;
      for (const int s : valid) works += (works.empty() ? "" : ", ") + std::to_string(s);
      throw InvalidInput("zeco: " + std::to_string(stages) + " stages do not divide the state's " +
                         std::to_string(problem.shape.kv_heads) + " kv heads; stages that do: " + works);
    }
    ProgramBuilder builder(name(), degrees, problem, place_contiguous(problem.mask, problem.ranks));
    StateScan scan(builder, shards_of(builder, boundary_views(builder)), stages);
    scan.run(Phase::forward);
    scan.run(Phase::backward);
    return builder.take();
  }

  /// Ascending; the last is the default.
  static std::vector<int> stages_of(const AttentionShape& shape) {
    std::vector<int> stages;
    for (int s = 1; s <= kMostStages; ++s)
      if (shape.kv_heads % s == 0) stages.push_back(s);
    return stages;
  }
};

}  // namespace

const Strategy& zeco_strategy() {
  static const Zeco strategy;
  return strategy;
}

}  // namespace hsap
