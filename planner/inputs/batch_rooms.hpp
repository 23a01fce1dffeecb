// Room left in batches that are filled one document after the other: which is the first one that still has enough?
#pragma once

#include <cstddef>
#include <vector>

#include "planner/ir/ids.hpp"

namespace hsap {

/// A binary tree of maxima, so that the first batch with room is found in O(log batches).
class BatchRooms {
 public:
  /// The first batch with room for `length` tokens; batches() when none has. @pre length >= 1
  std::size_t first_with_room(Token length) const;
  /// Adds an empty batch with room for `tokens`.
  void open(Token tokens);
  /// @pre the batch has room for `length` tokens
  void take(std::size_t batch, Token length) { set(batch, most_[leaves_ + batch] - length); }
  std::size_t batches() const { return batches_; }

 private:
  void set(std::size_t batch, Token room);
  void double_leaves();

  std::size_t leaves_ = 1;
  std::size_t batches_ = 0;
  /// Node n has children 2n and 2n+1; leaf of batch b is leaves_ + b; unopened batches have 0.
  std::vector<Token> most_ = {0, 0};
};

}  // namespace hsap
