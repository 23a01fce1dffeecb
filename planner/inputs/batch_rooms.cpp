#include "planner/inputs/batch_rooms.hpp"

#include <algorithm>
#include <utility>

namespace hsap {

std::size_t BatchRooms::first_with_room(Token length) const {
  if (most_[1] < length) return batches_;
  std::size_t node = 1;
  while (node < leaves_) node = most_[2 * node] >= length ? 2 * node : 2 * node + 1;
  return node - leaves_;
}

void BatchRooms::open(Token tokens) {
  if (batches_ == leaves_) double_leaves();
  set(batches_++, tokens);
}

void BatchRooms::set(std::size_t batch, Token room) {
  std::size_t node = leaves_ + batch;
  most_[node] = room;
  for (node /= 2; node > 0; node /= 2) most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
}

void BatchRooms::double_leaves() {
  std::vector<Token> grown(4 * leaves_, 0);
  std::copy_n(most_.begin() + static_cast<std::ptrdiff_t>(leaves_), batches_,
              grown.begin() + static_cast<std::ptrdiff_t>(2 * leaves_));
  leaves_ *= 2;
  most_ = std::move(grown);
  for (std::size_t node = leaves_ - 1; node > 0; --node) most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
}

}  // namespace hsap
