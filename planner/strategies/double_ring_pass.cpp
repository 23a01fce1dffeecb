#include "planner/strategies/double_ring_pass.hpp"

#include <utility>

#include "planner/strategies/ring_hops.hpp"

namespace hsap {

namespace {

class DoubleRing {
 public:
  DoubleRing(ProgramBuilder& builder, std::vector<RingPlace> places, const DoubleRingRules& rules)
      : builder_(builder), rules_(rules), map_(builder, std::move(places)), windows_(map_.size() / rules.window) {
    members_.reserve(size());
    for (std::size_t place = 0; place < size(); ++place) members_.emplace_back(builder, map_, place);
  }

  void forward() {
    std::vector<Block> first = own_blocks();  // of the window step
    for (std::size_t j = 0; j < windows_; ++j) {
      std::vector<Block> next_first = send_blocks_across(Phase::forward, j, first);
      std::vector<Block> here = first;
      for (std::size_t i = 0; i < width(); ++i) {
        std::vector<Block> coming = pass_blocks_inside(Phase::forward, j, i, here);
        for (std::size_t place = 0; place < size(); ++place)
          members_[place].attend(step(j, i), source(place, j, i), here[place]);
        here = std::move(coming);
      }
      first = std::move(next_first);
    }
    for (RingMember& member : members_) member.finish_forward(step(windows_ - 1, width() - 1));
  }

  void backward() {
    std::vector<Block> first = own_blocks();
    std::vector<Block> from_before;  // gradients that came across, of the blocks with which this window step starts
    for (std::size_t j = 0; j < windows_; ++j) {
      std::vector<Block> next_first = send_blocks_across(Phase::backward, j, first);
      std::vector<Block> gradients = around_inside(j, first);
      if (j > 0) add(j, from_before, gradients);
      from_before = windows_ > 1 ? send_gradients_across(j, gradients) : std::move(gradients);
      first = std::move(next_first);
    }
    for (std::size_t place = 0; place < size(); ++place) members_[place].finish_backward(step(windows_, 0), from_before[place]);
  }

 private:
  std::size_t size() const { return map_.size(); }
  std::size_t width() const { return rules_.window; }
  int step(std::size_t j, std::size_t i) const { return static_cast<int>(j * width() + i); }
  DType gradient_dtype(std::size_t j) const { return j == 0 ? rules_.first_gradient : rules_.later_gradient; }

  /// The place whose block is at `place` in inner step i of window step j.
  std::size_t source(std::size_t place, std::size_t j, std::size_t i) const {
    const std::size_t window = (place / width() + windows_ - j % windows_) % windows_;
    return window * width() + (place % width() + width() - i % width()) % width();
  }
  std::size_t next_inside(std::size_t place) const { return place - place % width() + (place + 1) % width(); }
  std::size_t next_across(std::size_t place) const { return (place + width()) % size(); }

  std::vector<Block> own_blocks() const {
    std::vector<Block> blocks;
    for (const RingMember& member : members_) blocks.push_back(member.own_block());
    return blocks;
  }
  std::vector<Block> blocks_at(std::size_t j, std::size_t i, const char* name) {
    std::vector<Block> blocks;
    for (std::size_t place = 0; place < size(); ++place) blocks.push_back(members_[place].new_block(source(place, j, i), name));
    return blocks;
  }
  std::vector<Block> gradients_at(std::size_t j, std::size_t i, DType dtype, const char* name) {
    std::vector<Block> gradients;
    for (std::size_t place = 0; place < size(); ++place)
      gradients.push_back(members_[place].new_gradient(source(place, j, i), dtype, name));
    return gradients;
  }

  void pass(Phase phase, int number, std::size_t (DoubleRing::*next)(std::size_t) const, const std::vector<Block>& from,
            const std::vector<Block>& into) {
    std::vector<Hop> hops;
    for (std::size_t place = 0; place < size(); ++place) {
      const std::size_t to = (this->*next)(place);
      hops.push_back({map_.rank(place), map_.rank(to), {from[place].k, from[place].v}, {into[to].k, into[to].v}});
    }
    const bool across = next == &DoubleRing::next_across;
    pass_on_stream(builder_, across ? kCommunicationStream + 1 : kCommunicationStream, phase, number, hops);
  }

  std::vector<Block> send_blocks_across(Phase phase, std::size_t j, const std::vector<Block>& first) {
    if (j + 1 == windows_) return {};
    std::vector<Block> arriving = blocks_at(j + 1, 0, "kv across");
    pass(phase, step(j, 0), &DoubleRing::next_across, first, arriving);
    return arriving;
  }
  std::vector<Block> pass_blocks_inside(Phase phase, std::size_t j, std::size_t i, const std::vector<Block>& here) {
    if (i + 1 == width()) return {};
    std::vector<Block> coming = blocks_at(j, i + 1, "kv hop");
    pass(phase, step(j, i), &DoubleRing::next_inside, here, coming);
    return coming;
  }

  /// One inner ring of K, V and gradients; returns the gradients, back where their blocks started.
  std::vector<Block> around_inside(std::size_t j, const std::vector<Block>& first) {
    std::vector<Block> here = first;
    std::vector<Block> gradients = gradients_at(j, 0, gradient_dtype(j), "d_kv");
    for (std::size_t i = 0; i < width(); ++i) {
      std::vector<Block> coming = pass_blocks_inside(Phase::backward, j, i, here);
      for (std::size_t place = 0; place < size(); ++place) {
        const std::size_t from = source(place, j, i);
        if (i == 0)
          members_[place].start_gradient(step(j, i), from, here[place], gradients[place]);
        else
          members_[place].add_gradient(step(j, i), from, here[place], gradients[place]);
      }
      if (width() > 1) {
        std::vector<Block> arriving = gradients_at(j, i + 1, gradient_dtype(j), "d_kv hop");
        pass(Phase::backward, step(j, i), &DoubleRing::next_inside, gradients, arriving);
        gradients = std::move(arriving);
      }
      here = std::move(coming);
    }
    return gradients;
  }

  void add(std::size_t j, const std::vector<Block>& terms, const std::vector<Block>& sums) {
    for (std::size_t place = 0; place < size(); ++place)
      builder_.compute(map_.rank(place), Phase::backward, step(j, width() - 1),
                       Accumulate{{{terms[place].k, sums[place].k}, {terms[place].v, sums[place].v}}});
  }

  /// The last of these hops takes the gradients home. Those of the first window step are cast before they leave.
  std::vector<Block> send_gradients_across(std::size_t j, std::vector<Block> gradients) {
    if (gradient_dtype(j) != rules_.later_gradient) {
      std::vector<Block> cast = gradients_at(j, 0, rules_.later_gradient, "d_kv cast");
      for (std::size_t place = 0; place < size(); ++place)
        builder_.compute(map_.rank(place), Phase::backward, step(j, width() - 1),
                         Copy{{{gradients[place].k, cast[place].k}, {gradients[place].v, cast[place].v}}});
      gradients = std::move(cast);
    }
    std::vector<Block> arriving = gradients_at(j + 1, 0, rules_.later_gradient, "d_kv across");
    pass(Phase::backward, step(j, width() - 1), &DoubleRing::next_across, gradients, arriving);
    return arriving;
  }

  ProgramBuilder& builder_;
  const DoubleRingRules rules_;
  RingMap map_;
  const std::size_t windows_;
  std::vector<RingMember> members_;
};

}  // namespace

void double_ring_pass(ProgramBuilder& builder, std::vector<RingPlace> places, const DoubleRingRules& rules) {
  DoubleRing ring(builder, std::move(places), rules);
  ring.forward();
  ring.backward();
}

}  // namespace hsap
