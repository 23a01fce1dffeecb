#include "planner/strategies/relay_steps.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "planner/strategies/range_parts.hpp"
#include "planner/strategies/relay_outlets.hpp"

namespace hsap {

std::uint64_t Way::number() const {
  const auto bits = [](auto value) { return static_cast<std::uint64_t>(value); };
  return (3 * bits(stage) + bits(hop)) << 32 | bits(from) << 3 | bits(source) << 1 | bits(arrival == Store::passing);
}

Way way_of(std::uint64_t number) {
  const auto stage_and_hop = static_cast<int>(number >> 32);
  return {.stage = stage_and_hop / 3,
          .hop = static_cast<Hop>(stage_and_hop % 3),
          .from = static_cast<int>((number & 0xffffffff) >> 3),
          .source = static_cast<Store>(number >> 1 & 3),
          .arrival = (number & 1) != 0 ? Store::passing : Store::needed};
}

namespace {

/// Deals rows, as they are counted, to stages of about equal size, the last stage first.
class StageCounter {
 public:
  /// `total` = rows that will be counted; not looked at for one stage.
  StageCounter(Token total, int stages, Token least_rows)
      : total_(total), stages_(stages == 1 ? 1 : std::clamp<Token>(total / std::max<Token>(1, least_rows), 1, stages)) {}

  template <class Visit>
  void split(TokenRange rows, const Visit& visit) {
    if (stages_ == 1) return visit(0, rows);
    while (rows.begin < rows.end) {
      const Token behind = total_ - 1 - counted_;
      const Token stage = behind * stages_ / total_;
      const Token behind_last = (stage * total_ + stages_ - 1) / stages_;  // of the stage
      const Token taken = std::min(rows.size(), behind - behind_last + 1);
      visit(static_cast<int>(stage), TokenRange{rows.begin, rows.begin + taken});
      rows.begin += taken;
      counted_ += taken;
    }
  }

 private:
  Token total_, stages_, counted_ = 0;
};

class StepPlanner {
 public:
  StepPlanner(const DocumentMask& mask, const RelayNodes& nodes, Token least_rows)
      : mask_(mask),
        nodes_(nodes),
        least_rows_(least_rows),
        outlets_(nodes, least_rows),
        member_of_group_(nodes.node_of_group.size(), kNone) {
    result_.arrivals.resize(nodes.arrival(static_cast<int>(nodes.node_of_group.size()), 0, Store::needed));
  }

  /// `pieces` of one document, in token order.
  void plan(std::span<const HeldPiece> pieces) {
    find_members(pieces);
    find_nodes();
    for (const Node& node : document_nodes_) plan_inside(node.begin, node.end);
    if (nodes_.nodes() > 1) {
      find_outlets(pieces);
      for (const Node& node : document_nodes_) plan_between(node);
    }
    for (const Member& member : members_) member_of_group_[static_cast<std::size_t>(member.group)] = kNone;
  }

  RelaySteps take() { return std::move(result_); }

 private:
  static constexpr int kNone = -1;

  /// A group that holds rows of the document at hand.
  struct Member {
    int group;
    std::size_t first_row, rows;    // of rows_
    std::size_t first_need, needs;  // of needs_: keys that its rows see and it does not hold
  };

  /// A node whose members begin .. end-1 hold rows of the document at hand.
  struct Node {
    int node;
    std::size_t begin, end;
    std::size_t first_need, needs;  // of node_needs_: of all members, normalised
  };
  /// Rows that leave their node from a group, where they are in `store`.
  struct Source {
    TokenRange rows;
    int group;
    Store store;
  };

  ArrivalRows& arrival(int group, int stage, Store store) { return result_.arrivals[nodes_.arrival(group, stage, store)]; }
  Ranges rows_of(const Member& member) const { return Ranges(rows_).subspan(member.first_row, member.rows); }
  Ranges needs_of(std::size_t member) const {
    return Ranges(needs_).subspan(members_[member].first_need, members_[member].needs);
  }

  void find_members(std::span<const HeldPiece> pieces) {
    by_group_.assign(pieces.begin(), pieces.end());
    std::sort(by_group_.begin(), by_group_.end(), [](const HeldPiece& a, const HeldPiece& b) {
      return std::tie(a.group, a.rows.begin) < std::tie(b.group, b.rows.begin);
    });
    members_.clear(), rows_.clear(), needs_.clear();
    for (std::size_t i = 0; i < by_group_.size();) {
      Member member{by_group_[i].group, rows_.size(), 0, needs_.size(), 0};
      seen_.clear();
      for (; i < by_group_.size() && by_group_[i].group == member.group; ++i) {
        rows_.push_back(by_group_[i].rows);
        const VisibleKeys keys = mask_.keys_seen_by(by_group_[i].document, by_group_[i].rows);
        seen_.push_back(keys.sinks), seen_.push_back(keys.main);
      }
      normalise(seen_);
      member.rows = rows_.size() - member.first_row;
      for (const TokenRange& keys : seen_)
        for_each_gap(keys, rows_of(member), [&](const TokenRange& gap) { needs_.push_back(gap); });
      member.needs = needs_.size() - member.first_need;
      member_of_group_[static_cast<std::size_t>(member.group)] = static_cast<int>(members_.size());
      members_.push_back(member);
    }
  }

  void find_nodes() {
    document_nodes_.clear(), node_needs_.clear();
    for (std::size_t begin = 0, end = 0; begin < members_.size(); begin = end) {
      const int node = nodes_.node(members_[begin].group);
      all_needs_.clear();
      for (; end < members_.size() && nodes_.node(members_[end].group) == node; ++end)
        all_needs_.insert(all_needs_.end(), needs_of(end).begin(), needs_of(end).end());
      normalise(all_needs_);
      document_nodes_.push_back({node, begin, end, node_needs_.size(), all_needs_.size()});
      node_needs_.insert(node_needs_.end(), all_needs_.begin(), all_needs_.end());
    }
  }
  Ranges needs_of(const Node& node) const { return Ranges(node_needs_).subspan(node.first_need, node.needs); }

  /// Rows that leave from another group than their holder come to it inside the node first.
  void find_outlets(std::span<const HeldPiece> pieces) {
    needs_of_nodes_.clear();
    for (const Node& node : document_nodes_) needs_of_nodes_.push_back({node.node, needs_of(node)});
    sources_.clear();
    for (const Outlet& outlet : outlets_.choose(pieces, needs_of_nodes_)) {
      if (outlet.exit == outlet.holder) {
        sources_.push_back({outlet.rows, outlet.exit, Store::own});
        continue;
      }
      const Ranges needs = needs_of_group(outlet.exit);
      const auto leave_as = [&](Store store) {
        return [&, store](const TokenRange& rows) {
          sources_.push_back({rows, outlet.exit, store});
          ArrivalRows& come = arrival(outlet.exit, 0, store);
          append(come.entered, rows);
          if (store == Store::needed) return;  // plan_inside() has it come
          append(come.rows, rows);
          step({.stage = 0, .hop = Hop::inside, .from = outlet.holder, .arrival = store}, outlet.exit, rows);
        };
      };
      const std::size_t first = sources_.size();
      for_each_common(outlet.rows, needs, leave_as(Store::needed));
      for_each_gap(outlet.rows, needs, leave_as(Store::passing));
      std::sort(sources_.begin() + static_cast<std::ptrdiff_t>(first), sources_.end(),
                [](const Source& a, const Source& b) { return a.rows.begin < b.rows.begin; });
    }
  }

  void step(const Way& way, int to, const TokenRange& rows) {
    result_.steps.push_back({way.number(), to, static_cast<std::uint32_t>(result_.ranges.size()), 1});
    result_.ranges.push_back(rows);
  }

  /// Among the members begin .. end-1, which share a node.
  void plan_inside(std::size_t begin, std::size_t end) {
    for (std::size_t to = begin; to < end; ++to) {
      const auto each_held = [&](const auto& visit) {  // the last holders first: theirs is the last stage
        for (std::size_t from = end; from-- > begin;)
          if (from != to)
            for (const TokenRange& rows : rows_of(members_[from]))
              for_each_common(rows, needs_of(to), [&](const TokenRange& common) { visit(members_[from].group, common); });
      };
      StageCounter stage(total_of(each_held, nodes_.inside_stages), nodes_.inside_stages, least_rows_);
      held_.resize(static_cast<std::size_t>(nodes_.inside_stages));
      each_held([&](int holder, const TokenRange& rows) {
        stage.split(rows, [&](int s, const TokenRange& part) {
          step({.stage = s, .hop = Hop::inside, .from = holder}, members_[to].group, part);
          held_[static_cast<std::size_t>(s)].push_back(part);
        });
      });
      for (int s = 0; s < nodes_.inside_stages; ++s) {
        std::vector<TokenRange>& rows = held_[static_cast<std::size_t>(s)];
        normalise(rows);
        for (const TokenRange& range : rows) append(arrival(members_[to].group, s, Store::needed).rows, range);
        rows.clear();
      }
    }
  }

  /// Rows that each(visit) visits; 0 when they go into one stage anyway.
  template <class Each>
  static Token total_of(const Each& each, int stages) {
    Token total = 0;
    if (stages > 1) each([&](const auto&, const TokenRange& rows) { total += rows.size(); });
    return total;
  }

  /// Rows of other nodes that some member of this node needs. The first stage gets the last ones: in a chain their holders are
  /// the nearest.
  void plan_between(const Node& node) {
    const Ranges needs = needs_of(node);
    if (needs.empty()) return;
    const auto first = std::upper_bound(sources_.begin(), sources_.end(), needs.front().begin,
                                        [](Token token, const Source& source) { return token < source.rows.end; });
    const auto last = std::lower_bound(first, sources_.end(), needs.back().end,
                                       [](const Source& source, Token token) { return source.rows.begin < token; });
    const auto each_outside = [&](const auto& visit) {
      for (auto source = first; source != last; ++source)
        if (nodes_.node(source->group) != node.node)
          for_each_common(source->rows, needs, [&](const TokenRange& rows) { visit(*source, rows); });
    };
    const auto groups = static_cast<std::size_t>(nodes_.first(node.node + 1) - nodes_.first(node.node));
    if (entered_.size() < groups * stores()) entered_.resize(groups * stores());
    Token total = 0;
    each_outside([&](const Source&, const TokenRange& rows) { total += rows.size(); });
    const bool by_all_nics = total >= static_cast<Token>(groups) * least_rows_;
    StageCounter stage(total, nodes_.between_stages, least_rows_);
    each_outside([&](const Source& source, const TokenRange& rows) {
      stage.split(rows, [&](int s, const TokenRange& part) {
        enter(source, s, part, node, by_all_nics);
        for (std::size_t m = node.begin; m < node.end; ++m)
          for_each_common(part, needs_of(m), [&](const TokenRange& common) {
            append(arrival(members_[m].group, nodes_.inside_stages + s, Store::needed).rows, common);
          });
      });
    });
    for (std::size_t position = 0; position < groups; ++position)
      for (int s = 0; s < nodes_.between_stages; ++s)
        for (const Store store : {Store::needed, Store::passing}) pass_on(position, s, store, node);
  }

  /// Two for each stage between nodes: what a gateway needs itself, and what it only passes on.
  std::size_t stores() const { return 2 * static_cast<std::size_t>(nodes_.between_stages); }
  std::vector<TokenRange>& entered(std::size_t position, int stage, Store store) {
    return entered_[position * stores() + 2 * static_cast<std::size_t>(stage) + (store == Store::passing)];
  }
  /// What a group needs of the document at hand.
  Ranges needs_of_group(int group) const {
    const int member = member_of_group_[static_cast<std::size_t>(group)];
    return member == kNone ? Ranges{} : needs_of(static_cast<std::size_t>(member));
  }

  /// The group of the node that takes in rows which come from `group`: the one in the position of that group if it needs some
  /// of them, or if enough enters to use all NICs; else one that needs some, so that the way ends there when nobody else does.
  int gateway(int group, const TokenRange& rows, const Node& node, bool by_all_nics) {
    const int position = nodes_.position(group);
    const int same = nodes_.first(node.node) + position;
    if (same < nodes_.first(node.node + 1) && (by_all_nics || intersects(rows, needs_of_group(same)))) return same;
    needing_.clear();
    for (std::size_t m = node.begin; m < node.end; ++m)
      if (intersects(rows, needs_of(m))) needing_.push_back(members_[m].group);
    return needing_[static_cast<std::size_t>(position) % needing_.size()];
  }

  void enter(const Source& source, int stage, const TokenRange& rows, const Node& node, bool by_all_nics) {
    const int group = gateway(source.group, rows, node, by_all_nics);
    const Ranges needs = needs_of_group(group);
    const auto enter_as = [&](Store store) {
      return [&, store](const TokenRange& part) {
        step({.stage = nodes_.inside_stages + stage,
              .hop = Hop::between,
              .from = source.group,
              .source = source.store,
              .arrival = store},
             group, part);
        entered(static_cast<std::size_t>(nodes_.position(group)), stage, store).push_back(part);
        ArrivalRows& come = arrival(group, nodes_.inside_stages + stage, store);
        append(come.entered, part);
        if (store == Store::passing) append(come.rows, part);
      };
    };
    for_each_common(rows, needs, enter_as(Store::needed));
    for_each_gap(rows, needs, enter_as(Store::passing));
  }

  /// What a gateway took in goes to the other members of its node.
  void pass_on(std::size_t position, int stage, Store store, const Node& node) {
    std::vector<TokenRange>& rows = entered(position, stage, store);
    if (rows.empty()) return;
    normalise(rows);
    const TokenRange hull{rows.front().begin, rows.back().end};
    const int gateway = nodes_.first(node.node) + static_cast<int>(position);
    const std::uint64_t way =
        Way{.stage = nodes_.inside_stages + stage, .hop = Hop::onward, .from = gateway, .source = store}.number();
    std::size_t all = 0;  // where `rows` lie in the result, once somebody needs all of them
    for (std::size_t m = node.begin; m < node.end; ++m) {
      if (members_[m].group == gateway) continue;
      const Ranges needs = needs_of(m);
      const bool needs_all = std::any_of(needs.begin(), needs.end(), [&](const TokenRange& range) {
        return range.begin <= hull.begin && hull.end <= range.end;
      });
      std::vector<TokenRange>& ranges = result_.ranges;
      std::size_t first = ranges.size();
      if (needs_all && all > 0) {
        first = all;
      } else if (needs_all) {
        all = first;
        ranges.insert(ranges.end(), rows.begin(), rows.end());
      } else {
        for (const TokenRange& range : rows)
          for_each_common(range, needs, [&](const TokenRange& common) { ranges.push_back(common); });
      }
      const std::size_t count = needs_all ? rows.size() : ranges.size() - first;
      if (count > 0)
        result_.steps.push_back({way, members_[m].group, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)});
    }
    rows.clear();
  }

  const DocumentMask& mask_;
  const RelayNodes& nodes_;
  const Token least_rows_;
  OutletChooser outlets_;
  std::vector<HeldPiece> by_group_;  // of the document at hand, as are the following
  std::vector<Member> members_;
  std::vector<TokenRange> rows_, needs_, seen_;
  std::vector<int> member_of_group_;
  std::vector<std::vector<TokenRange>> held_;  // by members of the own node, [stage]
  std::vector<Node> document_nodes_;
  std::vector<TokenRange> node_needs_, all_needs_;
  std::vector<NodeNeeds> needs_of_nodes_;
  std::vector<Source> sources_;  // ascending
  std::vector<std::vector<TokenRange>> entered_;
  std::vector<int> needing_;
  RelaySteps result_;
};

}  // namespace

RelaySteps plan_relay_steps(const DocumentMask& mask, const std::vector<HeldPiece>& pieces, const RelayNodes& nodes,
                            Token least_rows) {
  StepPlanner planner(mask, nodes, least_rows);
  for (std::size_t first = 0, last = 0; first < pieces.size(); first = last) {
    while (last < pieces.size() && pieces[last].document == pieces[first].document) ++last;
    planner.plan(std::span(pieces).subspan(first, last - first));
  }
  return planner.take();
}

}  // namespace hsap
