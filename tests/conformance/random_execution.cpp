#include "tests/conformance/random_execution.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/mask_rules.hpp"

namespace hsap::test {

namespace {

/// One (query, key) pair as seen from a cell: the other token, the query head, and the tokens by which it has decayed so far,
/// as the formulas of planner/ir/schedule.hpp count them.
struct Pair {
  Token token = 0;
  int head = 0;
  Token decayed = 0;
  auto operator<=>(const Pair&) const = default;
};
/// One row and head of a buffer. Inputs hold which token and head of the layer they are (as a single pair).
struct Cell {
  bool written = false;
  std::vector<Pair> pairs;  // sorted
};

struct Fault {
  std::string what;
};

void add(Cell& into, const Cell& from) {
  into.pairs.insert(into.pairs.end(), from.pairs.begin(), from.pairs.end());
  std::sort(into.pairs.begin(), into.pairs.end());
}

class Execution {
 public:
  Execution(const Schedule& schedule, unsigned seed) : schedule_(schedule), random_(seed), cells_(schedule.ranks.size()) {
    for (RankId rank = 0; rank < cells_.size(); ++rank) cells_[rank].resize(schedule.ranks[rank].buffers.size());
  }

  void run() {
    for (RankId rank = 0; rank < cells_.size(); ++rank) {
      const RankBoundary& b = schedule_.ranks[rank].boundary;
      bring(rank, b.q), bring(rank, b.k), bring(rank, b.v);
    }
    run_phase(Phase::forward);
    for (RankId rank = 0; rank < cells_.size(); ++rank) bring(rank, schedule_.ranks[rank].boundary.d_o);
    run_phase(Phase::backward);
    for (RankId rank = 0; rank < cells_.size(); ++rank) check_results(rank);
  }

 private:
  using Place = std::pair<Token, int>;  // row (0 of a state) and head

  Role role(RankId rank, BufferId buffer) const { return schedule_.buffer(rank, buffer).role; }
  int group() const { return schedule_.shape.queries_per_kv_head(); }

  static std::vector<Token> list(const TokenSet& set) {
    std::vector<Token> tokens;
    for (const TokenRange& range : set.ranges())
      for (Token t = range.begin; t < range.end; ++t) tokens.push_back(t);
    return tokens;
  }
  std::vector<Token> tokens(const Slice& slice) const { return list(schedule_.tokens(slice.tokens)); }
  std::vector<Place> places(RankId rank, const Slice& slice) const {
    std::vector<Place> found;
    for (const Token row : is_state(role(rank, slice.buffer)) ? std::vector<Token>{0} : tokens(slice))
      for (int head = slice.heads.begin; head < slice.heads.end; ++head) found.push_back({row, head});
    return found;
  }
  Cell& cell(RankId rank, BufferId buffer, Place place) { return cells_[rank][buffer][place]; }
  const Cell& read(RankId rank, BufferId buffer, Place place) {
    const Cell& found = cell(rank, buffer, place);
    if (!found.written)
      throw Fault{"rank " + std::to_string(rank) + " reads an unwritten row of " + schedule_.buffer(rank, buffer).name.text()};
    return found;
  }
  void write(RankId rank, BufferId buffer, Place place, std::vector<Pair> pairs) {
    std::sort(pairs.begin(), pairs.end());
    cell(rank, buffer, place) = {true, std::move(pairs)};
  }
  /// An input must be the very token and head that its place says.
  void expect_input(RankId rank, const Slice& slice) {
    for (const Place& place : places(rank, slice))
      if (read(rank, slice.buffer, place).pairs != std::vector<Pair>{{place.first, place.second}})
        throw Fault{"an input was replaced"};
  }

  void bring(RankId rank, BufferId buffer) {
    const Buffer& input = schedule_.buffer(rank, buffer);
    for (const Place& place : places(rank, {buffer, input.tokens, input.heads}))
      write(rank, buffer, place, {{place.first, place.second}});
  }

  void copy(RankId from_rank, const Slice& from, RankId into_rank, const Slice& into) {
    const auto source = places(from_rank, from);
    const auto target = places(into_rank, into);
    if (source.size() != target.size() || role(from_rank, from.buffer) != role(into_rank, into.buffer))
      throw Fault{"unlike slices"};
    for (std::size_t i = 0; i < source.size(); ++i)
      write(into_rank, into.buffer, target[i], read(from_rank, from.buffer, source[i]).pairs);
  }

  void accumulate(RankId rank, const Slice& from, const Slice& into) {
    for (const Place& place : places(rank, into)) {
      const Cell term = read(rank, from.buffer, place);
      read(rank, into.buffer, place);
      add(cell(rank, into.buffer, place), term);
    }
  }

  static std::vector<Pair> decayed(std::vector<Pair> pairs, Token distance) {
    for (Pair& pair : pairs) pair.decayed += distance;
    return pairs;
  }

  std::vector<Pair> visible(Token query, const std::vector<Token>& keys) const {
    std::vector<Pair> pairs;
    for (const Token key : keys)
      if (sees(schedule_.mask, query, key)) pairs.push_back({key, 0, query - key});
    return pairs;
  }
  std::vector<Pair> everything_visible(Token query) const {
    return visible(query, list(TokenSet{{0, schedule_.mask.tokens()}}));
  }
  /// Queries among `queries` that see the key, for each of `query_heads` that the kv head serves.
  std::vector<Pair> seeing(Token key, int kv_head, const std::vector<Token>& queries, const HeadRange& query_heads) const {
    std::vector<Pair> pairs;
    for (const Token query : queries)
      if (!visible(query, {key}).empty())
        for (int head = std::max(query_heads.begin, kv_head * group());
             head < std::min(query_heads.end, (kv_head + 1) * group()); ++head)
          pairs.push_back({query, head, query - key});
    return pairs;
  }

  void run_op(RankId rank, const Attend& op) {
    expect_input(rank, op.q), expect_input(rank, op.k), expect_input(rank, op.v);
    for (const Place& place : places(rank, op.q)) {
      write(rank, op.o.buffer, place, visible(place.first, tokens(op.k)));
      if (op.lse) write(rank, op.lse->buffer, place, visible(place.first, tokens(op.k)));
    }
  }
  void run_op(RankId rank, const Merge& op) {
    for (const Place& place : places(rank, op.o))
      if (read(rank, op.o.buffer, place).pairs != read(rank, op.lse.buffer, place).pairs ||
          read(rank, op.from_o.buffer, place).pairs != read(rank, op.from_lse.buffer, place).pairs)
        throw Fault{"o and lse differ"};
    accumulate(rank, op.from_o, op.o);
    accumulate(rank, op.from_lse, op.lse);
  }
  void run_op(RankId rank, const Delta& op) {
    expect_input(rank, op.d_o);
    for (const Place& place : places(rank, op.o)) write(rank, op.delta.buffer, place, read(rank, op.o.buffer, place).pairs);
  }
  void run_op(RankId rank, const AttendBackward& op) {
    expect_input(rank, op.q), expect_input(rank, op.k), expect_input(rank, op.v), expect_input(rank, op.d_o);
    for (const Place& place : places(rank, op.q)) {
      for (const auto& whole : {op.o, op.lse})
        if (whole && read(rank, whole->buffer, place).pairs != everything_visible(place.first))
          throw Fault{"softmax is not whole"};
      write(rank, op.d_q.buffer, place, visible(place.first, tokens(op.k)));
    }
    for (const Place& place : places(rank, op.k))
      for (const Slice& target : {op.d_k, op.d_v})
        write(rank, target.buffer, place, seeing(place.first, place.second, tokens(op.q), op.q.heads));
  }
  void run_op(RankId rank, const Accumulate& op) {
    for (const Transfer& term : op.terms) accumulate(rank, term.from, term.into);
  }
  void run_op(RankId rank, const Copy& op) {
    for (const Transfer& term : op.terms) copy(rank, term.from, rank, term.into);
  }
  void run_op(RankId rank, const Zero& op) {
    for (const Slice& slice : op.slices)
      for (const Place& place : places(rank, slice)) write(rank, slice.buffer, place, {});
  }
  void run_op(RankId rank, const StateUpdate& op) {
    expect_input(rank, op.a), expect_input(rank, op.b);
    const bool forward = role(rank, op.state.buffer) == Role::state;
    const std::vector<Token> rows = tokens(op.a);
    for (const Place& place : places(rank, op.state)) {
      std::vector<Pair> sum;
      if (op.before) sum = decayed(read(rank, op.before->buffer, place).pairs, static_cast<Token>(rows.size()));
      for (const Token token : rows) {
        if (forward) sum.push_back({token, 0, rows.back() - token});
        for (int head = op.a.heads.begin; head < op.a.heads.end && !forward; ++head)
          if (head / group() == place.second) sum.push_back({token, head, token - rows.front()});
      }
      write(rank, op.state.buffer, place, std::move(sum));
    }
  }
  void run_op(RankId rank, const StateSum& op) {
    const bool forward = role(rank, op.state.buffer) == Role::state;
    const std::vector<Token> all = tokens(op.state);
    for (const Place& place : places(rank, op.state)) {
      std::vector<Pair> sum;
      for (const Slice& term : op.terms) {
        const std::vector<Token> own = tokens(term);
        const Token distance = forward ? all.back() - own.back() : own.front() - all.front();
        for (const Pair& pair : decayed(read(rank, term.buffer, place).pairs, distance)) sum.push_back(pair);
      }
      write(rank, op.state.buffer, place, std::move(sum));
    }
  }
  void run_op(RankId rank, const StateApply& op) {
    expect_input(rank, op.x);
    const bool query_rows = has_query_heads(role(rank, op.x.buffer));
    const bool forward = role(rank, op.state.buffer) == Role::state;
    const std::vector<Token> summed = tokens(op.state);
    for (const Place& place : places(rank, op.out)) {
      const Token distance = forward ? place.first - summed.back() : summed.front() - place.first;
      const int head = query_rows ? place.second / group() : place.second;
      write(rank, op.out.buffer, place, decayed(read(rank, op.state.buffer, {0, head}).pairs, distance));
    }
  }
  void run_op(RankId, const Exchange&) {}

  // --- order -------------------------------------------------------------------------------------------------------
  enum class Progress { waiting, started, done };
  struct Transit {
    RankId from, into;
    OpIndex from_op, into_op;
    const Message *sent, *received;
    bool done = false;
  };

  void match(Phase phase) {
    transits_.clear();
    for (RankId from = 0; from < cells_.size(); ++from)
      for (RankId into = 0; into < cells_.size(); ++into) {
        const auto sends = messages(from, into, phase, true);
        const auto recvs = messages(into, from, phase, false);
        if (sends.size() != recvs.size()) throw Fault{"messages do not match"};
        for (std::size_t i = 0; i < sends.size(); ++i) {
          if (sends[i].second->parts.size() != recvs[i].second->parts.size()) throw Fault{"parts do not match"};
          transits_.push_back({from, into, sends[i].first, recvs[i].first, sends[i].second, recvs[i].second});
        }
      }
  }
  std::vector<std::pair<OpIndex, const Message*>> messages(RankId rank, RankId peer, Phase phase, bool sends) const {
    std::vector<std::pair<OpIndex, const Message*>> found;
    for (const Op& op : ops_of(schedule_.ranks[rank], phase))
      if (const auto* exchange = std::get_if<Exchange>(&op.body))
        for (const Message& message : sends ? exchange->sends : exchange->recvs)
          if (message.peer == peer) found.push_back({op.id, &message});
    return found;
  }

  /// One thing that can happen next: an op starts or ends, or a message moves.
  struct Event {
    RankId rank;
    OpIndex op;
    Transit* transit = nullptr;
  };

  std::vector<Event> possible(Phase phase) {
    std::vector<Event> events;
    for (RankId rank = 0; rank < cells_.size(); ++rank) {
      std::map<int, bool> stream_blocked;
      for (const Op& op : ops_of(schedule_.ranks[rank], phase)) {
        const Progress progress = progress_[rank][op.id];
        if (progress == Progress::done || stream_blocked[op.stream]) continue;
        stream_blocked[op.stream] = true;
        const bool may_start = std::all_of(op.after.begin(), op.after.end(),
                                           [&](OpIndex earlier) { return progress_[rank][earlier] == Progress::done; });
        const bool may_end = std::all_of(transits_.begin(), transits_.end(), [&](const Transit& t) {
          return t.done || !((t.from == rank && t.from_op == op.id) || (t.into == rank && t.into_op == op.id));
        });
        if (progress == Progress::started ? may_end : may_start) events.push_back({rank, op.id});
      }
    }
    for (Transit& t : transits_)
      if (!t.done && progress_[t.from][t.from_op] == Progress::started && progress_[t.into][t.into_op] == Progress::started)
        events.push_back({t.into, t.into_op, &t});
    return events;
  }

  void run_phase(Phase phase) {
    match(phase);
    std::size_t open = 0;
    progress_.assign(cells_.size(), {});
    for (RankId rank = 0; rank < cells_.size(); ++rank) {
      progress_[rank].assign(ops_of(schedule_.ranks[rank], phase).size(), Progress::waiting);
      open += progress_[rank].size();
    }
    while (open > 0) {
      const std::vector<Event> events = possible(phase);
      if (events.empty()) throw Fault{"the ranks wait for ever"};
      const Event event = events[std::uniform_int_distribution<std::size_t>(0, events.size() - 1)(random_)];
      if (event.transit != nullptr) {
        for (std::size_t part = 0; part < event.transit->sent->parts.size(); ++part)
          copy(event.transit->from, event.transit->sent->parts[part], event.transit->into,
               event.transit->received->parts[part]);
        event.transit->done = true;
        continue;
      }
      Progress& progress = progress_[event.rank][event.op];
      if (progress == Progress::waiting) {
        progress = Progress::started;
        continue;
      }
      std::visit([&](const auto& body) { run_op(event.rank, body); },
                 ops_of(schedule_.ranks[event.rank], phase)[event.op].body);
      progress = Progress::done;
      --open;
    }
  }

  void check_results(RankId rank) {
    const RankBoundary& b = schedule_.ranks[rank].boundary;
    const std::vector<Token> everything = list(TokenSet{{0, schedule_.mask.tokens()}});
    const HeadRange query_heads{0, schedule_.shape.query_heads};
    for (const BufferId buffer : {b.o, b.d_q, b.d_k, b.d_v}) {
      const bool rows_are_queries = buffer == b.o || buffer == b.d_q;
      const Buffer& result = schedule_.buffer(rank, buffer);
      for (const Place& place : places(rank, {buffer, result.tokens, result.heads})) {
        const auto expected =
            rows_are_queries ? everything_visible(place.first) : seeing(place.first, place.second, everything, query_heads);
        if (read(rank, buffer, place).pairs != expected)
          throw Fault{"rank " + std::to_string(rank) + ": wrong " + result.name.text()};
      }
    }
  }

  const Schedule& schedule_;
  std::mt19937 random_;
  std::vector<std::vector<std::map<Place, Cell>>> cells_;  // [rank][buffer]
  std::vector<std::vector<Progress>> progress_;            // [rank][op]
  std::vector<Transit> transits_;
};

}  // namespace

std::optional<std::string> find_fault(const Schedule& schedule, unsigned seed) {
  try {
    Execution(schedule, seed).run();
    return std::nullopt;
  } catch (const Fault& fault) {
    return fault.what;
  }
}

}  // namespace hsap::test
