#include "planner/strategies/ring_pass.hpp"

#include <utility>

namespace hsap {

namespace {

int number(std::size_t step) { return static_cast<int>(step); }

}  // namespace

RingPass::RingPass(ProgramBuilder& builder, std::vector<RingPlace> places, RingRules rules)
    : builder_(builder), rules_(std::move(rules)), map_(builder, std::move(places)) {
  members_.reserve(size());
  for (std::size_t place = 0; place < size(); ++place) members_.emplace_back(builder, map_, place);
}

std::size_t RingPass::source(Phase phase, std::size_t place, std::size_t step) const {
  if (phase == Phase::backward && rules_.backward_from_last) return (place + 1 + step) % size();
  return (place + size() - step % size()) % size();
}

std::size_t RingPass::next(Phase phase, std::size_t place) const {
  const bool against = phase == Phase::backward && rules_.backward_from_last;
  return (place + (against ? size() - 1 : 1)) % size();
}

void RingPass::pass(Phase phase, std::size_t step, const std::vector<Block>& from, const std::vector<Block>& into) {
  std::vector<Hop> hops;
  for (std::size_t place = 0; place < size(); ++place) {
    const std::size_t to = next(phase, place);
    hops.push_back({map_.rank(place), map_.rank(to), {from[place].k, from[place].v}, {into[to].k, into[to].v}});
  }
  rules_.pass(builder_, phase, number(step), hops);
}

std::vector<Block> RingPass::blocks_for(Phase phase, std::size_t step) {
  std::vector<Block> blocks;
  for (std::size_t place = 0; place < size(); ++place)
    blocks.push_back(members_[place].new_block(source(phase, place, step), "kv hop"));
  return blocks;
}

std::vector<Block> RingPass::gradients_for(std::size_t step, const char* name) {
  std::vector<Block> gradients;
  for (std::size_t place = 0; place < size(); ++place)
    gradients.push_back(members_[place].new_gradient(source(Phase::backward, place, step), rules_.gradient, name));
  return gradients;
}

void RingPass::forward() {
  std::vector<Block> here;
  for (const RingMember& member : members_) here.push_back(member.own_block());
  for (std::size_t step = 0; step < size(); ++step) {
    std::vector<Block> coming;
    if (step + 1 < size()) {
      coming = blocks_for(Phase::forward, step + 1);
      pass(Phase::forward, step, here, coming);
    }
    for (std::size_t place = 0; place < size(); ++place)
      members_[place].attend(number(step), source(Phase::forward, place, step), here[place]);
    if (rules_.keep_kv) kept_.push_back(here);
    last_ = std::exchange(here, std::move(coming));
  }
  for (RingMember& member : members_) member.finish_forward(number(size() - 1));
}

void RingPass::backward() {
  std::vector<Block> here;
  for (std::size_t place = 0; place < size(); ++place)
    here.push_back(rules_.backward_from_last ? last_[place] : members_[place].own_block());
  std::vector<Block> gradients = gradients_for(0, "d_kv");
  for (std::size_t step = 0; step < size(); ++step) {
    const bool is_last = step + 1 == size();
    std::vector<Block> coming;
    if (!is_last && rules_.keep_kv) {
      coming = kept_[rules_.backward_from_last ? size() - 2 - step : step + 1];
    } else if (!is_last) {
      coming = blocks_for(Phase::backward, step + 1);
      pass(Phase::backward, step, here, coming);
    }
    for (std::size_t place = 0; place < size(); ++place) {
      RingMember& member = members_[place];
      const std::size_t from = source(Phase::backward, place, step);
      if (step == 0)
        member.start_gradient(0, from, here[place], gradients[place]);
      else
        member.add_gradient(number(step), from, here[place], gradients[place]);
    }
    const bool passes_gradients = size() > 1 && !(is_last && rules_.backward_from_last);
    if (passes_gradients) {
      std::vector<Block> arriving = gradients_for(step + 1, "d_kv hop");
      pass(Phase::backward, step, gradients, arriving);
      gradients = std::move(arriving);
    }
    here = std::move(coming);
  }
  for (std::size_t place = 0; place < size(); ++place) members_[place].finish_backward(number(size()), gradients[place]);
}

void ring_pass(ProgramBuilder& builder, std::vector<RingPlace> places, RingRules rules) {
  RingPass ring(builder, std::move(places), std::move(rules));
  ring.forward();
  ring.backward();
}

}  // namespace hsap
