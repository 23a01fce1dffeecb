#include "backend/rank_walker.hpp"

#include <algorithm>
#include <set>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool same_rectangle(const SliceView& a, const SliceView& b) { return a.row_count == b.row_count && a.heads == b.heads; }

bool same_shape(const SliceView& a, const SliceView& b) { return same_rectangle(a, b) && a.width == b.width; }

/// The key/value heads are those that serve the query heads.
bool heads_match(const HeadGroups& groups, const SliceView& rows, const SliceView& kv) {
  return kv.heads == 0 ? rows.heads == 0
                       : groups.first_query / groups.queries_per_kv == groups.first_kv &&
                             (groups.first_query + rows.heads - 1) / groups.queries_per_kv == groups.first_kv + kv.heads - 1;
}

/// For the pointers of a kernel call: no values, no decay.
template <class Value>
const Value* data_or_null(const std::vector<Value>& values) {
  return values.empty() ? nullptr : values.data();
}

/// verify() says more exactly what is wrong; this keeps the kernels inside their memory when it was not asked.
void require(bool slices_fit) {
  if (!slices_fit) throw InvalidInput("the slices of this op do not fit each other; verify() refuses this plan and says why");
}

}  // namespace

RankWalker::RankWalker(const Schedule& schedule, RankId rank, Phase phase, const RankResources& resources,
                       std::vector<OpTime>& times)
    : schedule_(schedule),
      rank_(rank),
      phase_(phase),
      ops_(ops_of(schedule.ranks[rank], phase)),
      resources_(resources),
      times_(times),
      done_(ops_.size(), 0) {
  times_.resize(ops_.size());
  for (std::size_t index = 0; index < ops_.size(); ++index)
    for (const OpIndex earlier : ops_[index].after)
      if (earlier >= index)
        throw InvalidInput(place_of(rank, phase, ops_[index]) + ": waits for op " + std::to_string(earlier) +
                           ", expected one that stands before it");
}

std::vector<int> RankWalker::streams() const {
  std::set<int> streams;
  for (const Op& op : ops_) streams.insert(op.stream);
  return {streams.begin(), streams.end()};
}

void RankWalker::run_stream(int stream, Clock::time_point start) {
  for (std::size_t index = 0; index < ops_.size(); ++index) {
    const Op& op = ops_[index];
    if (op.stream != stream) continue;
    resources_.monitor.wait({.ready = [&] { return all_done(op.after); },
                             .describe = [&] { return place_of(rank_, phase_, op) + " waits for earlier ops of its rank"; }});
    times_[index].begin = seconds_since(start);
    try {
      run_op(op);
    } catch (const BackendFailure&) {
      throw;
    } catch (const std::exception& error) {
      throw BackendFailure(place_of(rank_, phase_, op), error.what());
    }
    times_[index].end = seconds_since(start);
    resources_.monitor.update([&] { done_[index] = 1; });
  }
}

bool RankWalker::all_done(const OpList& ops) const {
  for (const OpIndex op : ops)
    if (!done_[op]) return false;
  return true;
}

void RankWalker::run_op(const Op& op) {
  const std::vector<BufferId> buffers = buffers_of(op.body);
  for (const BufferId id : buffers) resources_.memory.begin_use(id);
  std::visit([&](const auto& body) { run(op, body); }, op.body);
  for (const BufferId id : buffers) resources_.memory.end_use(id);
}

void RankWalker::run(const Op& op, const Exchange& body) {
  resources_.communicator.exchange(posted(body.sends), posted(body.recvs), place_of(rank_, phase_, op));
}

void RankWalker::run(const Op&, const Attend& body) {
  const VisibleRows seen = visible(body.q, body.k);
  const std::vector<float> rates = decay_rates(body.k);
  const std::vector<Index> query_tokens = decaying_rows(body.q), key_tokens = decaying_rows(body.k);
  const AttendCall call{.q = view(body.q),
                        .k = view(body.k),
                        .v = view(body.v),
                        .o = view(body.o),
                        .lse = view(body.lse),
                        .visible = seen.main.data(),
                        .sinks = seen.sinks_or_null(),
                        .groups = groups(body.q, body.k),
                        .decay = {data_or_null(rates), data_or_null(query_tokens), data_or_null(key_tokens)}};
  require(body.lse.has_value() == (schedule_.shape.kind == AttentionKind::softmax));
  require(same_rectangle(call.q, call.o) && (!body.lse || same_rectangle(call.q, call.lse)) && same_rectangle(call.k, call.v));
  require(call.q.width == call.k.width && call.v.width == call.o.width && heads_match(call.groups, call.q, call.k));
  resources_.device.attend(schedule_.shape.kind, call);
}

void RankWalker::run(const Op&, const Merge& body) {
  const MergeCall call{view(body.from_o), view(body.from_lse), view(body.o), view(body.lse)};
  require(same_shape(call.from_o, call.o) && same_rectangle(call.o, call.lse) && same_shape(call.from_lse, call.lse));
  resources_.device.merge(call);
}

void RankWalker::run(const Op&, const Delta& body) {
  const DeltaCall call{view(body.o), view(body.d_o), view(body.delta)};
  require(same_shape(call.o, call.d_o) && same_rectangle(call.o, call.delta));
  resources_.device.delta(call);
}

void RankWalker::run(const Op&, const AttendBackward& body) {
  const bool by_delta = body.o && schedule_.buffer(rank_, body.o->buffer).role == Role::delta;
  const VisibleRows seen = visible(body.q, body.k);
  const std::vector<float> rates = decay_rates(body.k);
  const std::vector<Index> query_tokens = decaying_rows(body.q), key_tokens = decaying_rows(body.k);
  const AttendBackwardCall call{.q = view(body.q),
                                .k = view(body.k),
                                .v = view(body.v),
                                .o = by_delta ? SliceView{} : view(body.o),
                                .lse = view(body.lse),
                                .delta = by_delta ? view(body.o) : SliceView{},
                                .d_o = view(body.d_o),
                                .d_q = view(body.d_q),
                                .d_k = view(body.d_k),
                                .d_v = view(body.d_v),
                                .visible = seen.main.data(),
                                .sinks = seen.sinks_or_null(),
                                .groups = groups(body.q, body.k),
                                .decay = {data_or_null(rates), data_or_null(query_tokens), data_or_null(key_tokens)}};
  const bool softmax = schedule_.shape.kind == AttentionKind::softmax;
  require(body.o.has_value() == softmax && body.lse.has_value() == softmax);
  require(!softmax || same_rectangle(call.q, call.lse));
  require(!softmax || (by_delta ? same_rectangle(call.q, call.delta) : same_shape(call.o, call.d_o)));
  require(same_shape(call.q, call.d_q) && same_rectangle(call.q, call.d_o) && heads_match(call.groups, call.q, call.k));
  require(same_shape(call.k, call.d_k) && same_shape(call.v, call.d_v) && same_rectangle(call.k, call.v));
  require(call.q.width == call.k.width && call.v.width == call.d_o.width);
  resources_.device.attend_backward(schedule_.shape.kind, call);
}

void RankWalker::run(const Op&, const Accumulate& body) {
  for (const Transfer& term : body.terms) {
    const TransferCall call{view(term.from), view(term.into)};
    require(same_shape(call.from, call.into));
    resources_.device.accumulate(call);
  }
}

void RankWalker::run(const Op&, const Copy& body) {
  for (const Transfer& term : body.terms) {
    const TransferCall call{view(term.from), view(term.into)};
    require(same_shape(call.from, call.into));
    resources_.device.copy(call);
  }
}

void RankWalker::run(const Op&, const Zero& body) {
  for (const Slice& slice : body.slices) resources_.device.zero(view(slice));
}

void RankWalker::run(const Op&, const StateUpdate& body) {
  const std::vector<float> rates = decay_rates(body.state);
  const Index last = range_of(body.a).size() - 1;
  const bool forward = schedule_.buffer(rank_, body.state.buffer).role == Role::state;
  const StateUpdateCall call{.a = view(body.a),
                             .b = view(body.b),
                             .before = view(body.before),
                             .state = view(body.state),
                             .groups = groups(body.a, body.state),
                             .decay = {data_or_null(rates), forward ? last : 0, forward ? -1 : 1}};
  require(same_rectangle(call.a, call.b) && call.a.width * call.b.width == call.state.width);
  require(heads_match(call.groups, call.a, call.state) && (!body.before || same_shape(call.before, call.state)));
  resources_.device.state_update(call);
}

void RankWalker::run(const Op&, const StateSum& body) {
  const std::vector<float> rates = decay_rates(body.state);
  const TokenRange all = range_of(body.state);
  const bool forward = schedule_.buffer(rank_, body.state.buffer).role == Role::state;
  std::vector<SliceView> terms;
  std::vector<Index> distances;
  for (const Slice& term : body.terms) {
    terms.push_back(view(term));
    distances.push_back(forward ? all.end - range_of(term).end : range_of(term).begin - all.begin);
  }
  const StateSumCall call{.terms = terms.data(),
                          .distances = distances.data(),
                          .count = static_cast<Index>(terms.size()),
                          .state = view(body.state),
                          .rates = data_or_null(rates)};
  require(std::all_of(terms.begin(), terms.end(), [&](const SliceView& term) { return same_shape(term, call.state); }));
  resources_.device.state_sum(call);
}

void RankWalker::run(const Op&, const StateApply& body) {
  const std::vector<float> rates = decay_rates(body.state);
  const TokenRange rows = range_of(body.x), summed = range_of(body.state);
  const bool forward = schedule_.buffer(rank_, body.state.buffer).role == Role::state;
  const StateApplyCall call{
      .x = view(body.x),
      .state = view(body.state),
      .out = view(body.out),
      .transposed = body.transposed,
      .groups = groups(body.x, body.state),
      .decay = {data_or_null(rates), forward ? rows.begin - summed.end + 1 : summed.begin - rows.begin, forward ? 1 : -1}};
  require(same_rectangle(call.x, call.out) && call.x.width * call.out.width == call.state.width);
  require(heads_match(call.groups, call.x, call.state));
  resources_.device.state_apply(call);
}

SliceView RankWalker::view(const Slice& slice) const {
  return resources_.rows.view(rank_, slice, resources_.memory.memory(slice.buffer));
}

SliceView RankWalker::view(const std::optional<Slice>& slice) const { return slice ? view(*slice) : SliceView{}; }

std::vector<PostedMessage> RankWalker::posted(const PooledList<Message>& messages) const {
  std::vector<PostedMessage> all;
  for (const Message& message : messages) {
    PostedMessage& post = all.emplace_back(PostedMessage{message.peer, {}});
    for (const Slice& part : message.parts)
      post.parts.push_back({view(part), schedule_.buffer(rank_, part.buffer).role, part.tokens, part.heads});
  }
  return all;
}

VisibleRows RankWalker::visible(const Slice& queries, const Slice& keys) const {
  return visible_rows(schedule_.mask, schedule_.tokens(queries.tokens), schedule_.tokens(keys.tokens));
}

HeadGroups RankWalker::groups(const Slice& rows, const Slice& kv) const {
  const bool query_heads = has_query_heads(schedule_.buffer(rank_, rows.buffer).role);
  return {rows.heads.begin, kv.heads.begin, query_heads ? schedule_.shape.queries_per_kv_head() : 1};
}

std::vector<float> RankWalker::decay_rates(const Slice& kv) const {
  std::vector<float> rates;
  for (int head = kv.heads.begin; head < kv.heads.end && schedule_.shape.decay != 0; ++head)
    rates.push_back(static_cast<float>(decay_rate(schedule_.shape, head)));
  return rates;
}

std::vector<Index> RankWalker::decaying_rows(const Slice& rows) const {
  return schedule_.shape.decay != 0 ? row_tokens(schedule_.tokens(rows.tokens)) : std::vector<Index>{};
}

TokenRange RankWalker::range_of(const Slice& slice) const {
  const Ranges ranges = schedule_.tokens(slice.tokens).ranges();
  require(ranges.size() == 1);
  return ranges.front();
}

}  // namespace hsap
