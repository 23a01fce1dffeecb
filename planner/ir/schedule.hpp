// The Schedule: what every rank does, in which order, with which buffers. Strategies lower to it; verify() proves it; the cost
// model, the simulator and the executors interpret it. Rules that hold for every Schedule (verify() refuses the rest):
//
//  * Each rank has one program of two phases, forward and backward. Ops on one stream of a rank run in list order; `after`
//    names earlier ops of the same rank and phase that must be done first. Nothing else orders them. A barrier separates the
//    phases.
//  * Ranks meet in messages only. The messages from rank a to rank b are matched in order (NCCL has no tags).
//  * A buffer's rows are the tokens of its token set in ascending order: shape [tokens, heads, width]. Ops name rectangles of
//    buffers (Slice), so layout changes need no op of their own: an interpreter packs a message whose slice is not contiguous.
//    This is why there is no Pack/Unpack op: it would store the slice a second time.
//  * Attend and AttendBackward *write* their results; Merge and Accumulate combine them into earlier ones. So each value has
//    one writer, and verify() can follow where every (query, key) pair went.
//  * Bytes, FLOPs and memory are computed from the ops (work.hpp, memory.hpp), never stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "planner/ir/attention_shape.hpp"
#include "planner/ir/document_mask.hpp"
#include "planner/ir/ids.hpp"
#include "planner/ir/in_place_list.hpp"
#include "planner/ir/label.hpp"
#include "planner/ir/pooled_list.hpp"
#include "planner/ir/token_set.hpp"

namespace hsap {

/// What the elements of a buffer mean.
enum class Role : std::uint8_t {
  q,
  k,
  v,      ///< inputs of the layer
  o,      ///< attention output (softmax: normalised over the keys attended so far)
  lse,    ///< log-sum-exp over the keys attended so far, natural log, width 1, query heads; softmax only
  d_o,    ///< gradient that arrives from the next layer
  delta,  ///< rowsum(d_o o), width 1, query heads; what backward needs of o; softmax only
  d_q,
  d_k,
  d_v,      ///< gradients
  state,    ///< linear attention: sum of lambda^(e-s) k_s^T v_s over the tokens s, of which e is the last; one [qk_dim, v_dim]
            ///< matrix per kv head (lambda: decay_rate)
  d_state,  ///< linear attention backward: sum of lambda^(t-b) q_t^T d_o_t over the tokens t, of which b is the first, and over
            ///< the query heads of a kv head
};
std::string to_string(Role role);
/// True for q, o, lse, d_o, delta, d_q: their heads are query heads; the others count kv heads.
bool has_query_heads(Role role);
/// True for state and d_state: one row per head, whatever the token set (which then says which tokens are summed).
bool is_state(Role role);
/// Elements of one head of one row: qk_dim, v_dim, 1, or qk_dim * v_dim for a state.
int width_of(Role role, const AttentionShape& shape);

/// Heads begin .. end-1, numbered over the whole layer (query heads or kv heads, see has_query_heads).
struct HeadRange {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
  bool operator==(const HeadRange&) const = default;
};

/// Memory of one rank, shape [tokens, heads, width_of(role)], row-major. State buffers: [1, heads, qk_dim * v_dim].
struct Buffer {
  Role role = Role::q;
  DType dtype = DType::bf16;
  TokenSetId tokens = 0;
  HeadRange heads;
  Label name;  ///< for people: "kv hop"
  bool operator==(const Buffer&) const = default;
};

/// The rows `tokens` and heads `heads` of a buffer of the same rank. For states `tokens` equals the buffer's token set, which
/// is one range of one document: so the distances by which a state decays follow from where ranges begin and end.
struct Slice {
  BufferId buffer = 0;
  TokenSetId tokens = 0;
  HeadRange heads;
  bool operator==(const Slice&) const = default;
};

/// Parts of a message: nearly always one or two, and very many such lists in a schedule.
using SliceList = InPlaceList<Slice, 2>;

/// One point-to-point transfer: the parts travel back to back as one message. Sender and receiver list the same parts (role,
/// tokens, heads, dtype) in the same order; only the buffers differ.
struct Message {
  RankId peer = 0;
  SliceList parts;
  bool operator==(const Message&) const = default;
};

/// All sends and receives are posted together; done when all are. (One NCCL group; MPI Isend/Irecv/Waitall.)
/// At most one message to and one from each peer. Messages without bytes are not listed.
struct Exchange {
  PooledList<Message> sends;
  PooledList<Message> recvs;
  bool operator==(const Exchange&) const = default;
};

/// Partial attention of the rows of q against the rows of k and v, under the mask. *Writes* o (and lse, softmax only) for
/// every row of q: rows that see no key get o = 0, lse = -infinity. q, o, lse have the same tokens and query heads; k, v the
/// same tokens and kv heads, which serve exactly those query heads.
struct Attend {
  Slice q, k, v, o;
  std::optional<Slice> lse;
  bool operator==(const Attend&) const = default;
};

/// Folds one partial result into another over the same rows and heads:
/// softmax: lse' = log(e^lse + e^from_lse), o' = o e^(lse-lse') + from_o e^(from_lse-lse'). (FlashAttention split-KV merge.)
/// Linear attention has no lse and uses Accumulate instead.
struct Merge {
  Slice from_o, from_lse, o, lse;
  bool operator==(const Merge&) const = default;
};

/// delta = rowsum(d_o o), row by row and head by head (FlashAttention-2, algorithm 2, line 4). *Writes* delta. For those who
/// send the rows of a query to where its keys are: delta is o's share of the backward pass in one number.
struct Delta {
  Slice o, d_o, delta;
  bool operator==(const Delta&) const = default;
};

/// Gradients of the pairs that Attend(q, k, v) would compute, given the *merged* o and lse of the rows and d_o.
/// *Writes* d_q for every row of q (which may be none), d_k and d_v for every row of k (zero where no pair exists). o and lse:
/// softmax only. softmax: p = exp(q.k/sqrt(qk_dim) - lse), d_v += p d_o, d_s = p (d_o.v - rowsum(d_o o)), d_q += d_s k /
/// sqrt(qk_dim), d_k += d_s q / sqrt(qk_dim) (FlashAttention-2, algorithm 2); linear: w = lambda^(t-s), d_q += w (d_o.v)
/// k, d_k += w (d_o.v) q, d_v += w (q.k) d_o.
struct AttendBackward {
  Slice q, k, v;
  std::optional<Slice> o;  ///< of role o, or of role delta, which was made from it
  std::optional<Slice> lse;
  Slice d_o;
  Slice d_q, d_k, d_v;
  bool operator==(const AttendBackward&) const = default;
};

/// One (from, into) pair of slices with equal tokens and heads.
struct Transfer {
  Slice from, into;
  bool operator==(const Transfer&) const = default;
};

/// Nearly always one or two, k and v.
using TransferList = InPlaceList<Transfer, 2>;

/// into += from, in the dtype of `into`, for each pair, in the order of the list. `into` must have been written before.
/// Gradients, d_state and o of linear attention are plain sums. For o of softmax all terms but one must be zeros (Zero): it is
/// normalised, and two partial ones need a Merge.
struct Accumulate {
  TransferList terms;
  bool operator==(const Accumulate&) const = default;
};

/// into = from, converting the dtype, for each pair (layout change or cast on one rank).
struct Copy {
  TransferList terms;
  bool operator==(const Copy&) const = default;
};

/// Zeros in o, d_q, d_k or d_v, for each slice: what a rank gives to a sum of rows or heads that it has no part in.
struct Zero {
  std::vector<Slice> slices;
  bool operator==(const Zero&) const = default;
};

/// Linear attention: adds n rows to a state. Forward (a = k, b = v): the rows e-n .. e-1 follow those of `before`,
/// state = lambda^n before + sum over rows s of lambda^(e-1-s) a_s^T b_s. Backward (a = q, b = d_o, d_state): the rows b ..
/// b+n-1 precede those of `before`, state = lambda^n before + sum over rows t of lambda^(t-b) a_t^T b_t. The rows are one range
/// of one document; state's token set = before's token set + those rows. *Writes* state.
struct StateUpdate {
  Slice a, b;
  std::optional<Slice> before;
  Slice state;
  bool operator==(const StateUpdate&) const = default;
};

/// Linear attention: the state of the terms' tokens together, each term decayed from its own end to the common one. Forward:
/// sum of lambda^(e-e_i) term_i, e_i and e the ends of the term's and of all tokens; backward: of lambda^(b_i-b) term_i with
/// their begins. Two terms or more, in token order, each beginning where the one before it ends; state's token set = theirs
/// together. *Writes* state.
struct StateSum {
  std::vector<Slice> terms;
  Slice state;
  bool operator==(const StateSum&) const = default;
};

/// Linear attention: out_t = lambda^(distance of row t to the state) x_t * state (or x_t * state^T when `transposed`). *Writes*
/// out. Used as o += q S, d_q += d_o S^T (S: keys before the rows, distance to the last of them), d_v += k D, d_k += v D^T (D:
/// queries after the rows, distance to the first of them). The rows of x are one range, in one document with the tokens of the
/// state, S's tokens before and D's tokens after all rows of x.
struct StateApply {
  Slice x, state, out;
  bool transposed = false;
  bool operator==(const StateApply&) const = default;
};

using OpBody =
    std::variant<Exchange, Attend, Merge, Delta, AttendBackward, Accumulate, Copy, Zero, StateUpdate, StateSum, StateApply>;

/// Stream 0 computes, the others communicate (an Exchange never runs on stream 0, nothing else runs elsewhere).
inline constexpr int kComputeStream = 0;
inline constexpr int kCommunicationStream = 1;

/// Earlier ops of a phase: seldom more than one on each other stream.
using OpList = InPlaceList<OpIndex, 2>;

struct Op {
  OpIndex id = 0;  ///< its position in the phase's list, so that a reordered list is noticed
  int stream = kComputeStream;
  int step = 0;  ///< round of the strategy it belongs to, for people and traces
  OpList after;
  OpBody body;
  bool operator==(const Op&) const = default;
};
static_assert(std::is_nothrow_move_constructible_v<Op>);
/// "exchange", "attend", ...
std::string kind_name(const OpBody& body);

/// Buffers that are written before the forward phase (q, k, v), before the backward phase (d_o), and that hold the results.
/// All have every head of the layer and the tokens that the rank owns. A rank that owns no token has them empty.
struct RankBoundary {
  BufferId q = 0, k = 0, v = 0, o = 0, d_o = 0, d_q = 0, d_k = 0, d_v = 0;
  bool operator==(const RankBoundary&) const = default;
};

struct RankProgram {
  TokenSetId tokens = 0;  ///< the tokens this rank owns
  RankBoundary boundary;
  PooledList<Buffer> buffers;
  PooledList<Op> forward;
  PooledList<Op> backward;
  bool operator==(const RankProgram&) const = default;
};

/// A x B as in "8x2": intra ranks share heads (all-to-all), inter ranks share the sequence. Product = ranks.
struct Degrees {
  int intra = 1;
  int inter = 1;
  bool operator==(const Degrees&) const = default;
};
std::string to_string(const Degrees& degrees);
/// "8x2" -> {8, 2}. Throws InvalidInput.
Degrees parse_degrees(const std::string& text);

struct Schedule {
  std::string strategy;
  Degrees degrees;
  AttentionShape shape;
  DocumentMask mask;
  std::vector<TokenSet> token_sets;  ///< each different set once; set 0 is the empty set
  ListPool pool;  ///< of the lists of all ranks, if it is open; empty ones are made in it by PooledList(pool)
  std::vector<RankProgram> ranks;

  const TokenSet& tokens(TokenSetId id) const { return token_sets[id]; }
  const Buffer& buffer(RankId rank, BufferId id) const { return ranks[rank].buffers[id]; }
  bool operator==(const Schedule&) const = default;
};

enum class Phase { forward, backward };
inline const PooledList<Op>& ops_of(const RankProgram& program, Phase phase) {
  return phase == Phase::forward ? program.forward : program.backward;
}
std::string to_string(Phase phase);

/// Calls visit(slice) for every slice that the op reads, then none that it only writes.
template <class Visit>
void for_each_read(const OpBody& body, Visit&& visit);
/// Calls visit(slice) for every slice that the op writes, completely or by adding.
template <class Visit>
void for_each_write(const OpBody& body, Visit&& visit);

}  // namespace hsap

#include "planner/ir/schedule_slices.hpp"  // IWYU pragma: export
