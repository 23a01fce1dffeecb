#include "planner/strategies/state_scan.hpp"

#include <optional>
#include <string>
#include <utility>

#include "planner/ir/errors.hpp"
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

}  // namespace

std::vector<int> scan_stages(int kv_heads) {
  std::vector<int> stages;
  for (int s = 1; s <= kMostStages; ++s)
    if (kv_heads % s == 0) stages.push_back(s);
  return stages;
}

void state_scan(ProgramBuilder& builder, const std::vector<View>& chain, int stages) {
  const std::vector<int> valid = scan_stages(chain.front().kv_heads.size());
  if (stages == 0) stages = valid.back();
  for (const View& view : chain) {
    if (view.kv_heads.size() % stages == 0) continue;
    std::string works;
    for (const int s : scan_stages(view.kv_heads.size())) works += (works.empty() ? "" : ", ") + std::to_string(s);
    throw InvalidInput(std::to_string(stages) + " stages do not divide the state's " + std::to_string(view.kv_heads.size()) +
                       " kv heads; stages that do: " + works);
  }
  StateScan scan(builder, shards_of(builder, chain), stages);
  scan.run(Phase::forward);
  scan.run(Phase::backward);
}

}  // namespace hsap
