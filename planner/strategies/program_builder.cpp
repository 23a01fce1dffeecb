#include "planner/strategies/program_builder.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace hsap {

namespace {

void drop_terms_without_rows(TransferList& terms) {
  const auto without_rows = [](const Transfer& term) { return term.from.tokens == TokenSetTable::kEmpty; };
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

ProgramBuilder::ProgramBuilder(std::string strategy, Degrees degrees, const Problem& problem, std::vector<TokenSet> owned)
    : sets_(4 * owned.size()), accesses_(owned.size()) {
  schedule_.strategy = std::move(strategy);
  schedule_.degrees = degrees;
  schedule_.shape = problem.shape;
  schedule_.mask = problem.mask;
  schedule_.ranks.resize(owned.size());
  schedule_.pool.open();
  const auto buffer = [&](Role role, const char* name) {
    const int heads = has_query_heads(role) ? problem.shape.query_heads : problem.shape.kv_heads;
    return Buffer{role, problem.shape.dtype, TokenSetTable::kEmpty, {0, heads}, name};
  };
  std::array boundary{buffer(Role::q, "q"),     buffer(Role::k, "k"),     buffer(Role::v, "v"),     buffer(Role::o, "o"),
                      buffer(Role::d_o, "d_o"), buffer(Role::d_q, "d_q"), buffer(Role::d_k, "d_k"), buffer(Role::d_v, "d_v")};
  for (RankId rank = 0; rank < owned.size(); ++rank) {
    RankProgram& program = schedule_.ranks[rank];
    program.tokens = sets_.intern(std::move(owned[rank]));
    program.boundary = {.q = 0, .k = 1, .v = 2, .o = 3, .d_o = 4, .d_q = 5, .d_k = 6, .d_v = 7};
    for (Buffer& each : boundary) each.tokens = program.tokens;
    program.buffers = PooledList<Buffer>(boundary.begin(), boundary.end(), schedule_.pool);
    program.forward = PooledList<Op>(schedule_.pool);
    program.backward = PooledList<Op>(schedule_.pool);
  }
}

void ProgramBuilder::reserve(RankId rank, std::size_t buffers, std::size_t forward_ops, std::size_t backward_ops) {
  RankProgram& program = schedule_.ranks[rank];
  program.buffers.reserve(buffers);
  program.forward.reserve(forward_ops), program.backward.reserve(backward_ops);
}

void ProgramBuilder::add_message(PooledList<Message>& messages, RankId peer, const std::vector<Slice>& parts) const {
  Message message{peer, {}};
  for (const Slice& slice : parts)
    if (slice.tokens != TokenSetTable::kEmpty) message.parts.push_back(slice);
  if (!message.parts.empty()) messages.push_back(std::move(message));
}

void ProgramBuilder::complete(RankId rank) {
  if (accesses_[rank]) spare_ = std::move(accesses_[rank]);
}

BufferAccesses& ProgramBuilder::accesses_of(RankId rank, Phase phase) {
  std::unique_ptr<RankAccesses>& accesses = accesses_[rank];
  if (!accesses) {
    accesses = spare_ ? std::move(spare_) : std::make_unique<RankAccesses>();
    accesses->forward.clear(), accesses->backward.clear();
  }
  return phase == Phase::forward ? accesses->forward : accesses->backward;
}

Schedule ProgramBuilder::take() {
  schedule_.token_sets = sets_.take();
  return std::move(schedule_);
}

template <class Body>
void ProgramBuilder::add(RankId rank, Phase phase, int stream, int step, Body&& body) {
  if constexpr (std::is_same_v<Body, Exchange>)
    if (body.sends.empty() && body.recvs.empty()) return;
  if constexpr (std::is_same_v<Body, Accumulate> || std::is_same_v<Body, Copy>) {
    drop_terms_without_rows(body.terms);
    if (body.terms.empty()) return;
  }

  constexpr int kStreams = BufferAccesses::kStreams;
  if (stream < 0 || stream >= kStreams)
    throw std::logic_error("an op on stream " + std::to_string(stream) + ", expected 0 to " + std::to_string(kStreams - 1));
  RankProgram& program = schedule_.ranks[rank];
  PooledList<Op>& ops = phase == Phase::forward ? program.forward : program.backward;
  const auto id = static_cast<OpIndex>(ops.size());
  BufferAccesses& earlier = accesses_of(rank, phase);
  earlier.make_room(program.buffers.capacity());  // of all that there is room for, so that it is seldom done
  OpDependencies dependencies(sets_, earlier, id, stream);
  for_each_only_read(body, [&](const Slice& slice) { dependencies.read(slice); });
  for_each_write(body, [&](const Slice& slice) { dependencies.write(slice); });
  ops.emplace_back(id, stream, step, dependencies.after(), std::move(body));
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
