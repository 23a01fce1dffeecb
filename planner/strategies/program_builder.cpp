#include "planner/strategies/program_builder.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace hsap {

namespace {

constexpr TokenSetId kNoTokens = 0;  // the builder makes the empty set first

std::size_t hash_of(Ranges ranges) {
  std::size_t hash = 1469598103934665603ULL;  // FNV-1a over the range ends
  for (const TokenRange& range : ranges)
    for (const Token token : {range.begin, range.end}) hash = (hash ^ static_cast<std::size_t>(token)) * 1099511628211ULL;
  return hash;
}

void drop_terms_without_rows(TransferList& terms) {
  const auto without_rows = [](const Transfer& term) { return term.from.tokens == kNoTokens; };
  if (std::any_of(terms.begin(), terms.end(), without_rows))
    terms.erase(std::remove_if(terms.begin(), terms.end(), without_rows), terms.end());
}

/// What an op reads and does not write. What it does both to counts as written: whoever must wait for the one must wait for the
/// other.
template <class Body, class Visit>
void for_each_only_read(const Body& op, const Visit& visit) {
  if constexpr (std::is_same_v<Body, Accumulate>) {
    for (const Transfer& term : op.terms) visit(term.from);
  } else if constexpr (std::is_same_v<Body, Merge>) {
    visit(op.from_o), visit(op.from_lse);
  } else {
    for_each_read(op, visit);
  }
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::string strategy, Degrees degrees, const Problem& problem,
                               const std::vector<TokenSet>& owned)
    : use_(owned.size()) {
  schedule_.strategy = std::move(strategy);
  schedule_.degrees = degrees;
  schedule_.shape = problem.shape;
  schedule_.mask = problem.mask;
  schedule_.ranks.resize(owned.size());
  schedule_.pool.open();
  make_slots(8 * owned.size() + 2);
  intern(TokenSet{});
  const auto buffer = [&](Role role, const char* name) {
    const int heads = has_query_heads(role) ? problem.shape.query_heads : problem.shape.kv_heads;
    return Buffer{role, problem.shape.dtype, kNoTokens, {0, heads}, name};
  };
  std::array boundary{buffer(Role::q, "q"),     buffer(Role::k, "k"),     buffer(Role::v, "v"),     buffer(Role::o, "o"),
                      buffer(Role::d_o, "d_o"), buffer(Role::d_q, "d_q"), buffer(Role::d_k, "d_k"), buffer(Role::d_v, "d_v")};
  for (RankId rank = 0; rank < owned.size(); ++rank) {
    RankProgram& program = schedule_.ranks[rank];
    program.tokens = intern(owned[rank]);
    program.boundary = {.q = 0, .k = 1, .v = 2, .o = 3, .d_o = 4, .d_q = 5, .d_k = 6, .d_v = 7};
    for (Buffer& each : boundary) each.tokens = program.tokens;
    program.buffers = PooledList<Buffer>(boundary.begin(), boundary.end(), schedule_.pool);
    program.forward = PooledList<Op>(schedule_.pool);
    program.backward = PooledList<Op>(schedule_.pool);
  }
}

TokenSetId ProgramBuilder::intern(Ranges ranges) {
  const std::size_t hash = hash_of(ranges);
  for (std::size_t slot = slot_of(hash); slots_[slot] != kFreeSlot; slot = (slot + 1) & (slots_.size() - 1)) {
    const TokenSetId set = slots_[slot];
    if (hash_of_set_[set] == hash && std::ranges::equal(tokens(set).ranges(), ranges)) return set;
  }
  const auto id = static_cast<TokenSetId>(schedule_.token_sets.size());
  schedule_.token_sets.push_back(TokenSet::of_normalised(ranges));
  hash_of_set_.push_back(hash);
  if (2 * hash_of_set_.size() > slots_.size())
    make_slots(2 * slots_.size());
  else
    put_in_slot(id);
  return id;
}

std::size_t ProgramBuilder::slot_of(std::size_t hash) const {
  return (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL >> (64 - std::countr_zero(slots_.size()));  // Fibonacci hashing
}

void ProgramBuilder::make_slots(std::size_t count) {
  slots_.assign(std::bit_ceil(count), kFreeSlot);
  for (TokenSetId set = 0; set < hash_of_set_.size(); ++set) put_in_slot(set);
}

void ProgramBuilder::put_in_slot(TokenSetId set) {
  std::size_t slot = slot_of(hash_of_set_[set]);
  while (slots_[slot] != kFreeSlot) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = set;
}

void ProgramBuilder::reserve(RankId rank, std::size_t buffers, std::size_t forward_ops, std::size_t backward_ops) {
  RankProgram& program = schedule_.ranks[rank];
  program.buffers.reserve(buffers);
  program.forward.reserve(forward_ops), program.backward.reserve(backward_ops);
}

void ProgramBuilder::add_message(PooledList<Message>& messages, RankId peer, const std::vector<Slice>& parts) const {
  Message message{peer, {}};
  for (const Slice& slice : parts)
    if (slice.tokens != kNoTokens) message.parts.push_back(slice);
  if (!message.parts.empty()) messages.push_back(std::move(message));
}

bool ProgramBuilder::overlap(const Slice& a, const Access& b) {
  constexpr std::size_t kLargeSet = 16;  // ranges, from which an answer is worth keeping
  if (a.heads.begin >= b.heads.end || b.heads.begin >= a.heads.end) return false;
  if (a.tokens == b.tokens) return true;
  const auto [low, high] = std::minmax(a.tokens, b.tokens);
  if (std::min(tokens(low).ranges().size(), tokens(high).ranges().size()) < kLargeSet)
    return tokens(low).intersects(tokens(high));
  const auto [known, is_new] = intersects_.try_emplace(std::uint64_t{high} << 32 | low, false);
  if (is_new) known->second = tokens(low).intersects(tokens(high));
  return known->second;
}

void ProgramBuilder::complete(RankId rank) {
  RankUse& use = use_[rank];
  for (PhaseUse* phase : {&use.forward, &use.backward}) phase->buffers.clear(), phase->accesses.clear();
  if (use.backward.accesses.capacity() > spare_.backward.accesses.capacity()) std::swap(use, spare_);
  use = {};
}

/// One op's accesses, noted one by one, and what it must wait for.
class ProgramBuilder::OpAccesses {
 public:
  OpAccesses(ProgramBuilder& builder, PhaseUse& use, OpIndex op, int stream)
      : builder_(builder), use_(use), op_(op), stream_(static_cast<std::size_t>(stream)), stream_bit_(1U << stream) {}
  void read(const Slice& slice) {
    BufferUse& buffer = use_.buffers[slice.buffer];
    wait_for(slice, buffer.write);
    note(slice, buffer.read);
  }
  void write(const Slice& slice) {
    BufferUse& buffer = use_.buffers[slice.buffer];
    wait_for(slice, buffer.write);
    wait_for(slice, buffer.read);
    note(slice, buffer.write);
  }
  OpList after() const {
    OpList after;
    for (const OpIndex number : latest_)
      if (number > 0) after.push_back(number - 1);
    if (after.size() == 2 && after.front() > after.back()) std::swap(after.front(), after.back());
    return after;
  }

 private:
  /// Those accesses of other streams that overlap the slice.
  void wait_for(const Slice& slice, const LatestAccesses& accesses) {
    if (const unsigned others = accesses.streams & ~stream_bit_) find_latest(slice, accesses, others);
  }
  void find_latest(const Slice& slice, const LatestAccesses& accesses, unsigned streams) {
    for (; streams != 0; streams &= streams - 1) {
      const auto stream = static_cast<std::size_t>(std::countr_zero(streams));
      for (int access = accesses.of_stream[stream]; access != kNone;) {  // latest first
        const Access& earlier = use_.accesses[static_cast<std::size_t>(access) - 1];
        if (earlier.op < latest_[stream]) break;
        if (builder_.overlap(slice, earlier)) latest_[stream] = earlier.op + 1;
        access = earlier.before;
      }
    }
  }
  void note(const Slice& slice, LatestAccesses& accesses) {
    int& last = accesses.of_stream[stream_];
    use_.accesses.push_back({op_, slice.tokens, slice.heads, last});
    last = static_cast<int>(use_.accesses.size());
    accesses.streams |= stream_bit_;
  }

  ProgramBuilder& builder_;
  PhaseUse& use_;
  const OpIndex op_;
  const std::size_t stream_;
  const unsigned stream_bit_;
  std::array<OpIndex, kStreams> latest_{};  // 1 + the op of each other stream that the op must wait for, or 0
};

template <class Body>
void ProgramBuilder::add(RankId rank, Phase phase, int stream, int step, Body&& body) {
  if constexpr (std::is_same_v<Body, Exchange>)
    if (body.sends.empty() && body.recvs.empty()) return;
  if constexpr (std::is_same_v<Body, Accumulate> || std::is_same_v<Body, Copy>) {
    drop_terms_without_rows(body.terms);
    if (body.terms.empty()) return;
  }

  if (stream < 0 || stream >= kStreams)
    throw std::logic_error("an op on stream " + std::to_string(stream) + ", expected 0 to " + std::to_string(kStreams - 1));
  RankProgram& program = schedule_.ranks[rank];
  PooledList<Op>& ops = phase == Phase::forward ? program.forward : program.backward;
  const auto id = static_cast<OpIndex>(ops.size());
  RankUse& of_rank = use_[rank];
  if (of_rank.forward.accesses.empty() && of_rank.backward.accesses.empty()) std::swap(of_rank, spare_);
  PhaseUse& use = phase == Phase::forward ? of_rank.forward : of_rank.backward;
  if (use.buffers.size() < program.buffers.size()) use.buffers.resize(program.buffers.capacity());
  OpAccesses accesses(*this, use, id, stream);
  for_each_only_read(body, [&](const Slice& slice) { accesses.read(slice); });
  for_each_write(body, [&](const Slice& slice) { accesses.write(slice); });
  ops.emplace_back(id, stream, step, accesses.after(), std::move(body));
}

template void ProgramBuilder::add(RankId, Phase, int, int, Exchange&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Attend&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Merge&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Delta&&);
template void ProgramBuilder::add(RankId, Phase, int, int, AttendBackward&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Accumulate&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Copy&&);
template void ProgramBuilder::add(RankId, Phase, int, int, Zero&&);
template void ProgramBuilder::add(RankId, Phase, int, int, StateUpdate&&);
template void ProgramBuilder::add(RankId, Phase, int, int, StateSum&&);
template void ProgramBuilder::add(RankId, Phase, int, int, StateApply&&);

}  // namespace hsap
