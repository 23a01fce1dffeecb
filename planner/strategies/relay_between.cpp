#include "planner/strategies/relay_between.hpp"

#include <algorithm>
#include <cmath>

#include "planner/strategies/stage_counter.hpp"

namespace hsap {

namespace {

bool comes_before(const HeldRows& a, const HeldRows& b) { return a.rows.begin < b.rows.begin; }

/// Of the stages between nodes, the first that belongs to a step (or the number of stages, for the number of steps).
int first_stage_of(int step, int nodes, int stages) {
  const int steps = doublings(nodes);
  const double moved = ((1 << step) - 1.0) / (nodes - 1.0);  // before the step, of all that is moved
  return std::clamp(static_cast<int>(std::lround(stages * moved)), step, stages - (steps - step));
}

}  // namespace

StepsBetween::StepsBetween(const RelayNodes& nodes, Token least_rows, RelaySteps& result)
    : nodes_(nodes),
      least_rows_(std::max<Token>(1, least_rows)),
      result_(result),
      outlets_(nodes, least_rows),
      gateways_(nodes, result) {}

void StepsBetween::plan(const RelayDocument& document) {
  find_sources(document);
  if (nodes_.doubling && document.nodes().size() > 2)
    pass_on_by_doubling(document);
  else
    take_from_holders(document);
}

void StepsBetween::find_sources(const RelayDocument& document) {
  sources_.clear();
  for (const Outlet& outlet : outlets_.choose(document.pieces(), document.nodes())) {
    if (outlet.exit == outlet.holder) {
      sources_.push_back({outlet.rows, outlet.exit, 0, Store::own});
      continue;
    }
    const Ranges needs = document.needs_of_group(outlet.exit);
    const auto leave_as = [&](Store store) {
      return [&, store](const TokenRange& rows) {
        sources_.push_back({rows, outlet.exit, 0, store});
        if (store == Store::needed) return;  // it comes anyway
        append(result_.arrivals[nodes_.arrival(outlet.exit, 0, store)].rows, rows);
        result_.add({.stage = 0, .hop = Hop::inside, .from = outlet.holder, .arrival = store}, outlet.exit, rows);
      };
    };
    const std::size_t first = sources_.size();
    for_each_common(outlet.rows, needs, leave_as(Store::needed));
    for_each_gap(outlet.rows, needs, leave_as(Store::passing));
    std::sort(sources_.begin() + static_cast<std::ptrdiff_t>(first), sources_.end(), comes_before);
  }
}

void StepsBetween::take_from_holders(const RelayDocument& document) {
  for (const Node& node : document.nodes()) {
    if (node.needs.empty()) continue;
    const auto first = std::upper_bound(sources_.begin(), sources_.end(), node.needs.front().begin,
                                        [](Token token, const HeldRows& source) { return token < source.rows.end; });
    const auto last = std::lower_bound(first, sources_.end(), node.needs.back().end,
                                       [](const HeldRows& source, Token token) { return source.rows.begin < token; });
    coming_.clear();
    for (auto source = first; source != last; ++source)
      if (nodes_.node(source->group) != node.node)
        for_each_common(source->rows, node.needs, [&](const TokenRange& rows) {
          coming_.push_back({rows, source->group, source->stage, source->store});
        });
    // In a chain the holders of the last rows are the nearest: theirs is the first stage.
    land(document, node, {}, 0, nodes_.between_stages);
  }
}

void StepsBetween::pass_on_by_doubling(const RelayDocument& document) {
  make_circle(document);
  const auto places = static_cast<int>(circle_.size());
  const int steps = doublings(places);
  for (int step = 0; step < steps; ++step) {
    const int first_stage = first_stage_of(step, places, nodes_.between_stages);
    const int stages = first_stage_of(step + 1, places, nodes_.between_stages) - first_stage;
    for (Place& place : circle_) place.landed_before = place.landed.size();
    for (int i = 0; i < places; ++i) {
      Place& place = circle_[static_cast<std::size_t>(i)];
      const Place& from = circle_[static_cast<std::size_t>((i + places - (1 << step)) % places)];
      find_coming(place, from, step + 1 == steps);
      if (coming_.empty()) continue;
      remove(coming_, place.lacks);
      land(document, *place.node, from.node->members, first_stage, stages);
      place.landed.insert(place.landed.end(), gateways_.landed().begin(), gateways_.landed().end());
    }
  }
}

void StepsBetween::make_circle(const RelayDocument& document) {
  by_node_ = sources_;
  std::stable_sort(by_node_.begin(), by_node_.end(),
                   [&](const HeldRows& a, const HeldRows& b) { return nodes_.node(a.group) < nodes_.node(b.group); });
  circle_.resize(document.nodes().size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < circle_.size(); ++i) {
    Place& place = circle_[i];
    place.node = &document.nodes()[i];
    const std::size_t first = next;
    while (next < by_node_.size() && nodes_.node(by_node_[next].group) == place.node->node) ++next;
    place.own = std::span(by_node_).subspan(first, next - first);
    place.landed.clear();
    std::vector<TokenRange>& held = left_;
    held.clear();
    for (const RelayDocument::Member& member : place.node->members)
      held.insert(held.end(), member.rows.begin(), member.rows.end());
    normalise(held);
    place.lacks.clear();
    for (const TokenRange& range : place.node->needs)
      for_each_gap(range, held, [&](const TokenRange& gap) { place.lacks.push_back(gap); });
  }
  const auto last_row = [](const Place& place) {
    Token last = 0;
    for (const RelayDocument::Member& member : place.node->members) last = std::max(last, member.rows.back().end);
    return last;
  };
  std::sort(circle_.begin(), circle_.end(), [&](const Place& a, const Place& b) { return last_row(a) < last_row(b); });
}

void StepsBetween::find_coming(const Place& place, const Place& from, bool last) {
  coming_.clear();
  const auto take = [&](const HeldRows& held, Ranges lacks) {
    for_each_common(held.rows, lacks, [&](const TokenRange& rows) {
      coming_.push_back({rows, held.group, held.stage, held.store});
    });
  };
  for (const HeldRows& held : from.own) take(held, place.lacks);
  for (const HeldRows& held : std::span(from.landed).first(from.landed_before)) take(held, place.lacks);
  std::sort(coming_.begin(), coming_.end(), comes_before);
  if (!last) return;
  left_ = place.lacks;
  remove(coming_, left_);
  if (left_.empty()) return;
  for (const HeldRows& source : sources_)
    if (nodes_.node(source.group) != place.node->node) take(source, left_);
  std::sort(coming_.begin(), coming_.end(), comes_before);
}

void StepsBetween::remove(std::span<const HeldRows> rows, std::vector<TokenRange>& lacks) {
  std::vector<TokenRange> left;
  for (TokenRange range : lacks) {
    for (const HeldRows& gone : rows) {
      if (gone.rows.end <= range.begin || range.end <= gone.rows.begin) continue;
      if (range.begin < gone.rows.begin) left.push_back({range.begin, gone.rows.begin});
      range.begin = gone.rows.end;
    }
    if (range.begin < range.end) left.push_back(range);
  }
  lacks = std::move(left);
}

void StepsBetween::land(const RelayDocument& document, const Node& node, std::span<const RelayDocument::Member> senders,
                        int first_stage, int stages) {
  Token total = 0, passed_on = 0;
  for (const HeldRows& held : coming_) {
    total += held.rows.size();
    if (held.group == HeldRows::kAllThatNeed) passed_on += held.rows.size();
  }
  if (total == 0) return;
  gateways_.begin(document, node, total >= static_cast<Token>(nodes_.groups(node.node)) * least_rows_);
  // Those who pass rows on take turns, each with an equal share of a stage or as much as is worth a message.
  const auto turns = static_cast<Token>(senders.size()) * stages;
  const Token share = passed_on == 0 ? 1 : std::max(least_rows_, (passed_on + turns - 1) / turns);
  Token taken = 0;
  StageCounter counter(total, stages, least_rows_);
  for (const HeldRows& held : coming_)
    counter.split(held.rows, [&](int step, TokenRange part) {
      const int stage = nodes_.inside_stages + first_stage + step;
      if (held.group != HeldRows::kAllThatNeed) return gateways_.enter({part, held.group, held.stage, held.store}, stage);
      while (part.begin < part.end) {
        const Token rows = std::min(part.size(), share - taken % share);
        const auto turn = static_cast<std::size_t>(taken / share) % senders.size();
        find_exits({{part.begin, part.begin + rows}, held.group, held.stage, held.store}, senders, turn);
        for (const HeldRows& leaving : leaving_) gateways_.enter(leaving, stage);
        part.begin += rows;
        taken += rows;
      }
    });
  for (int stage = first_stage; stage < first_stage + stages; ++stage) gateways_.pass_on(nodes_.inside_stages + stage);
}

void StepsBetween::find_exits(const HeldRows& held, std::span<const RelayDocument::Member> members, std::size_t first) {
  leaving_.clear();
  left_.assign(1, held.rows);
  for (std::size_t i = 0; i < members.size() && !left_.empty(); ++i) {
    const RelayDocument::Member& member = members[(first + i) % members.size()];
    still_left_.clear();
    for (const TokenRange& range : left_) {
      for_each_common(range, member.needs, [&](const TokenRange& rows) {
        leaving_.push_back({rows, member.group, held.stage, held.store});
      });
      for_each_gap(range, member.needs, [&](const TokenRange& rows) { still_left_.push_back(rows); });
    }
    std::swap(left_, still_left_);
  }
  std::sort(leaving_.begin(), leaving_.end(), comes_before);
}

}  // namespace hsap
