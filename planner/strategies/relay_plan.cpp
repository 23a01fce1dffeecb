#include "planner/strategies/relay_plan.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "planner/strategies/cut_documents.hpp"

namespace hsap {

namespace {

/// Where rows are stored in a group.
enum class Store { own, needed, passing };

/// Ranges of one document that take one step; they lie in a pool that all records share.
struct Record {
  int to, from, stage;
  Hop hop;
  Store source, arrival;
  std::size_t first, count;

  auto order() const { return std::tuple(stage, hop, from, source, arrival, first); }
  bool same_message_part(const Record& o) const {
    return std::tie(stage, hop, from, source, arrival) == std::tie(o.stage, o.hop, o.from, o.source, o.arrival);
  }
};

/// Calls visit(range) for the parts of `rows` inside the ranges, which ascend.
template <class Visit>
void for_each_common(TokenRange rows, const std::vector<TokenRange>& ranges, const Visit& visit) {
  for (const TokenRange& range : ranges) {
    const TokenRange common{std::max(rows.begin, range.begin), std::min(rows.end, range.end)};
    if (common.begin < common.end) visit(common);
  }
}

/// Calls visit(range) for the parts of `rows` outside the ranges, which ascend.
template <class Visit>
void for_each_gap(TokenRange rows, const std::vector<TokenRange>& ranges, const Visit& visit) {
  Token begin = rows.begin;
  for_each_common(rows, ranges, [&](const TokenRange& common) {
    if (begin < common.begin) visit(TokenRange{begin, common.begin});
    begin = common.end;
  });
  if (begin < rows.end) visit(TokenRange{begin, rows.end});
}

void normalise(std::vector<TokenRange>& ranges) { ranges = TokenSet(std::move(ranges)).ranges(); }

class Planner {
 public:
  Planner(ProgramBuilder& builder, const std::vector<TokenSetId>& groups, const std::vector<int>& node_of_group,
          const RelayRules& rules)
      : builder_(builder), groups_(groups), rules_(rules), member_of_group_(groups.size(), -1) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == 0 || node_of_group[g] != node_of_group[g - 1]) first_of_node_.push_back(static_cast<int>(g));
      node_index_.push_back(static_cast<int>(first_of_node_.size()) - 1);
    }
    first_of_node_.push_back(static_cast<int>(groups.size()));
    plan_.inside_stages = nodes() == 1 ? rules.stages : 1;
    plan_.stages = nodes() == 1 ? rules.stages : 1 + rules.stages;
    plan_.groups.resize(groups.size());
  }

  RelayPlan plan() {
    std::vector<const TokenSet*> sets;
    for (const TokenSetId id : groups_) sets.push_back(&builder_.tokens(id));
    pieces_ = cut_documents(builder_.mask(), sets);
    for (std::size_t first = 0, last = 0; first < pieces_.size(); first = last) {
      while (last < pieces_.size() && pieces_[last].document == pieces_[first].document) ++last;
      plan_document(first, last);
    }
    make_relays();
    return std::move(plan_);
  }

 private:
  /// A group that holds rows of the document at hand.
  struct Member {
    int group;
    std::vector<TokenRange> rows, needs;  // needs: keys that its rows see and it does not hold
  };

  int nodes() const { return static_cast<int>(first_of_node_.size()) - 1; }
  int node_of(int group) const { return node_index_[static_cast<std::size_t>(group)]; }
  int position_of(int group) const { return group - first_of_node_[static_cast<std::size_t>(node_of(group))]; }
  /// The group that takes in the rows from `holder` for the members begin .. end-1, those of one node: the one in the holder's
  /// position when it needs some of them, else one that does, so that the way ends there when nobody else needs them.
  int gateway(int holder, const TokenRange& rows, std::size_t begin, std::size_t end) {
    needing_.clear();
    for (std::size_t m = begin; m < end; ++m) {
      bool needs = false;
      for_each_common(rows, members_[m].needs, [&](const TokenRange&) { needs = true; });
      if (!needs) continue;
      if (position_of(members_[m].group) == position_of(holder)) return members_[m].group;
      needing_.push_back(members_[m].group);
    }
    return needing_[static_cast<std::size_t>(position_of(holder)) % needing_.size()];
  }
  void plan_document(std::size_t first, std::size_t last) {
    find_members(first, last);
    for (std::size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
      const int node = node_of(members_[begin].group);
      while (end < members_.size() && node_of(members_[end].group) == node) ++end;
      plan_inside(begin, end);
      if (nodes() > 1) plan_between(node, begin, end, first, last);
    }
    for (const Member& member : members_) member_of_group_[static_cast<std::size_t>(member.group)] = -1;
  }

  void find_members(std::size_t first, std::size_t last) {
    by_group_.assign(pieces_.begin() + static_cast<std::ptrdiff_t>(first), pieces_.begin() + static_cast<std::ptrdiff_t>(last));
    std::sort(by_group_.begin(), by_group_.end(), [](const HeldPiece& a, const HeldPiece& b) {
      return std::tie(a.group, a.rows.begin) < std::tie(b.group, b.rows.begin);
    });
    members_.clear();
    for (const HeldPiece& piece : by_group_) {
      if (members_.empty() || members_.back().group != piece.group) {
        member_of_group_[static_cast<std::size_t>(piece.group)] = static_cast<int>(members_.size());
        members_.push_back({piece.group, {}, {}});
      }
      Member& member = members_.back();
      member.rows.push_back(piece.rows);
      const VisibleKeys seen = builder_.mask().keys_seen_by(piece.document, piece.rows);
      for (const TokenRange& keys : {seen.sinks, seen.main})
        for_each_gap(keys, member.rows, [&](const TokenRange& gap) { member.needs.push_back(gap); });
    }
    // rows of the group that come later than a piece which sees them (keys ahead) are no needs
    for (Member& member : members_) {
      normalise(member.needs);
      std::vector<TokenRange> needs;
      for (const TokenRange& range : member.needs)
        for_each_gap(range, member.rows, [&](const TokenRange& gap) { needs.push_back(gap); });
      member.needs = std::move(needs);
    }
  }

  void plan_inside(std::size_t begin, std::size_t end) {
    for (std::size_t to = begin; to < end; ++to) {
      Token total = 0;
      each_held_in(begin, end, to, [&](int, const TokenRange& rows) { total += rows.size(); });
      StageCounter stage(total, plan_.inside_stages, rules_.least_rows);
      each_held_in(begin, end, to, [&](int holder, const TokenRange& rows) {
        stage.split(rows, [&](int s, const TokenRange& part) {
          record({members_[to].group, holder, s, Hop::inside, Store::own, Store::needed, 0, 0}, part);
        });
      });
    }
  }

  /// Needs of a member that other members of its node, which are begin .. end-1, hold.
  template <class Visit>
  void each_held_in(std::size_t begin, std::size_t end, std::size_t to, const Visit& visit) {
    for (std::size_t from = begin; from < end; ++from)
      if (from != to)
        for (const TokenRange& rows : members_[from].rows)
          for_each_common(rows, members_[to].needs, [&](const TokenRange& common) { visit(members_[from].group, common); });
  }

  /// Deals rows, as they are counted, to stages of about equal size.
  class StageCounter {
   public:
    StageCounter(Token total, int stages, Token least)
        : total_(total), stages_(std::clamp<Token>(total / std::max<Token>(1, least), 1, stages)) {}

    template <class Visit>
    void split(TokenRange rows, const Visit& visit) {
      while (rows.begin < rows.end) {
        const Token stage = std::min(counted_ * stages_ / total_, stages_ - 1);
        const Token until = ((stage + 1) * total_ + stages_ - 1) / stages_;  // counted rows at which the stage is full
        const Token taken = std::min(rows.size(), until - counted_);
        visit(static_cast<int>(stage), TokenRange{rows.end - taken, rows.end});
        rows.end -= taken;
        counted_ += taken;
      }
    }

   private:
    Token total_, stages_, counted_ = 0;
  };

  /// Rows of other nodes that some member of this node, which are begin .. end-1, needs.
  void plan_between(int node, std::size_t begin, std::size_t end, std::size_t first, std::size_t last) {
    node_needs_.clear();
    for (std::size_t m = begin; m < end; ++m)
      node_needs_.insert(node_needs_.end(), members_[m].needs.begin(), members_[m].needs.end());
    normalise(node_needs_);
    Token total = 0;
    const auto each_outside = [&](const auto& visit) {  // the last rows first: their holders are the nearest in a chain
      for (std::size_t i = last; i-- > first;)
        if (node_of(pieces_[i].group) != node)
          for_each_common(pieces_[i].rows, node_needs_, [&](const TokenRange& rows) { visit(pieces_[i].group, rows); });
    };
    each_outside([&](int, const TokenRange& rows) { total += rows.size(); });
    if (total == 0) return;

    entered_.clear();
    StageCounter stage(total, rules_.stages, rules_.least_rows);
    each_outside([&](int holder, const TokenRange& rows) {
      stage.split(rows, [&](int s, const TokenRange& part) {
        enter(holder, gateway(holder, part, begin, end), plan_.inside_stages + s, part);
      });
    });
    pass_on(begin, end);
  }

  void enter(int holder, int gateway, int stage, const TokenRange& rows) {
    static const std::vector<TokenRange> kNone;
    const int member = member_of_group_[static_cast<std::size_t>(gateway)];
    const std::vector<TokenRange>& needs = member < 0 ? kNone : members_[static_cast<std::size_t>(member)].needs;
    const auto enter_as = [&](Store store) {
      return [=, this](const TokenRange& part) {
        record({gateway, holder, stage, Hop::between, Store::own, store, 0, 0}, part);
        entered_.push_back({gateway, stage, store, part});
      };
    };
    for_each_common(rows, needs, enter_as(Store::needed));
    for_each_gap(rows, needs, enter_as(Store::passing));
  }

  /// What the gateways of a node took in goes to its other members.
  void pass_on(std::size_t begin, std::size_t end) {
    std::sort(entered_.begin(), entered_.end(), [](const Entered& a, const Entered& b) {
      return std::tie(a.gateway, a.stage, a.store, a.rows.begin) < std::tie(b.gateway, b.stage, b.store, b.rows.begin);
    });
    for (std::size_t i = 0, j = 0; i < entered_.size(); i = j) {
      const Entered& run = entered_[i];
      const std::size_t pool_first = pool_.size();
      for (; j < entered_.size() && entered_[j].same_run(run); ++j) pool_.push_back(entered_[j].rows);
      const std::size_t pool_last = pool_.size();
      const TokenRange hull{pool_[pool_first].begin, pool_[pool_last - 1].end};
      for (std::size_t m = begin; m < end; ++m) {
        const Member& member = members_[m];
        if (member.group == run.gateway) continue;
        Record onward{member.group, run.gateway,   run.stage,  Hop::onward,
                      run.store,    Store::needed, pool_first, pool_last - pool_first};
        const bool all = std::any_of(member.needs.begin(), member.needs.end(), [&](const TokenRange& range) {
          return range.begin <= hull.begin && hull.end <= range.end;
        });
        if (!all) {
          onward.first = pool_.size();
          for (std::size_t p = pool_first; p < pool_last; ++p)
            for_each_common(TokenRange(pool_[p]), member.needs, [&](const TokenRange& common) { pool_.push_back(common); });
          onward.count = pool_.size() - onward.first;
        }
        if (onward.count > 0) records_.push_back(onward);
      }
    }
  }

  void record(Record record, const TokenRange& rows) {
    record.first = pool_.size();
    record.count = 1;
    pool_.push_back(rows);
    records_.push_back(record);
  }

  /// Records to messages: those to a group with the same way become one relay.
  void make_relays() {
    std::vector<std::size_t> start(groups_.size() + 1, 0);  // of the records to a group
    for (const Record& r : records_) ++start[static_cast<std::size_t>(r.to) + 1];
    for (std::size_t g = 0; g < groups_.size(); ++g) start[g + 1] += start[g];
    std::vector<Record> sorted(records_.size());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (const Record& r : records_) sorted[next[static_cast<std::size_t>(r.to)]++] = r;

    const auto stores = static_cast<std::size_t>(2 * plan_.stages);
    arrival_of_.assign(groups_.size() * stores, Relay::kOwn);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(start[g]),
                 end = sorted.begin() + static_cast<std::ptrdiff_t>(start[g + 1]);
      std::sort(begin, end, [](const Record& a, const Record& b) { return a.order() < b.order(); });
      make_relays_to(static_cast<int>(g), begin, end);
    }
    for (GroupRelays& group : plan_.groups)
      for (Relay& relay : group.in) {
        const auto store = static_cast<Store>(relay.source);
        relay.source = store == Store::own ? Relay::kOwn : arrival(relay.from, relay.stage, store);
        plan_.groups[static_cast<std::size_t>(relay.from)].out.push_back(relay);
      }
    for (GroupRelays& group : plan_.groups)
      for (std::vector<Relay>* relays : {&group.in, &group.out})
        std::stable_sort(relays->begin(), relays->end(), [](const Relay& a, const Relay& b) {
          return std::tie(a.stage, a.hop, a.from, a.to, a.source) < std::tie(b.stage, b.hop, b.from, b.to, b.source);
        });
  }

  int& arrival(int group, int stage, Store store) {
    const auto index = 2 * (group * plan_.stages + stage) + (store == Store::passing);
    return arrival_of_[static_cast<std::size_t>(index)];
  }

  template <class Iterator>
  void make_relays_to(int group, Iterator begin, Iterator end) {
    GroupRelays& relays = plan_.groups[static_cast<std::size_t>(group)];
    std::vector<std::vector<TokenRange>> rows, entered;  // [arrival]
    for (Iterator run = begin; run != end;) {
      int& into = arrival(group, run->stage, run->arrival);
      if (into == Relay::kOwn) {
        into = static_cast<int>(relays.arrivals.size());
        relays.arrivals.push_back({run->stage, run->arrival == Store::needed, 0, 0});
        rows.emplace_back(), entered.emplace_back();
      }
      const Record& first = *run;
      std::vector<TokenRange>& all = rows[static_cast<std::size_t>(into)];
      const std::size_t before = all.size();
      const Iterator run_begin = run;
      for (; run != end && run->same_message_part(first); ++run)
        all.insert(all.end(), pool_.begin() + static_cast<std::ptrdiff_t>(run->first),
                   pool_.begin() + static_cast<std::ptrdiff_t>(run->first + run->count));
      const auto of_run = all.begin() + static_cast<std::ptrdiff_t>(before);
      if (first.hop == Hop::between) {
        std::vector<TokenRange>& entering = entered[static_cast<std::size_t>(into)];
        entering.insert(entering.end(), of_run, all.end());
      }
      const auto intern = [&] { return builder_.intern(TokenSet(std::vector<TokenRange>(of_run, all.end()))); };
      TokenSetId set = 0;
      if (run - run_begin > 1) {
        set = intern();
      } else {  // the members of a node often need the same of what a gateway took in
        const auto [known, is_new] = set_of_span_.try_emplace(first.first, 0);
        if (is_new) known->second = intern();
        set = known->second;
      }
      relays.in.push_back({first.from, group, first.stage, first.hop, static_cast<int>(first.source), into, set});
    }

    for (std::size_t a = 0; a < rows.size(); ++a) {
      relays.arrivals[a].rows = builder_.intern(TokenSet(std::move(rows[a])));
      relays.arrivals[a].entered = builder_.intern(TokenSet(std::move(entered[a])));
    }
  }

  /// Rows that a gateway took in.
  struct Entered {
    int gateway, stage;
    Store store;
    TokenRange rows;
    bool same_run(const Entered& o) const { return std::tie(gateway, stage, store) == std::tie(o.gateway, o.stage, o.store); }
  };

  ProgramBuilder& builder_;
  const std::vector<TokenSetId>& groups_;
  const RelayRules& rules_;
  RelayPlan plan_;
  std::vector<int> first_of_node_, node_index_;  // groups of node n: first_of_node_[n] .. first_of_node_[n + 1] - 1
  std::vector<HeldPiece> pieces_;                // of all cut documents
  std::vector<HeldPiece> by_group_;              // of the document at hand
  std::vector<Member> members_;
  std::vector<int> member_of_group_, needing_;
  std::vector<TokenRange> node_needs_;
  std::vector<Entered> entered_;
  std::vector<Record> records_;
  std::vector<TokenRange> pool_;
  std::unordered_map<std::size_t, TokenSetId> set_of_span_;  // of records, by where their ranges begin in the pool
  std::vector<int> arrival_of_;                              // [group][stage][needed, passing]
};

}  // namespace

RelayPlan plan_relays(ProgramBuilder& builder, const std::vector<TokenSetId>& groups, const std::vector<int>& node_of_group,
                      const RelayRules& rules) {
  return Planner(builder, groups, node_of_group, rules).plan();
}

}  // namespace hsap
