// How rows that come in several stages are dealt to them.
#pragma once

#include <algorithm>

#include "planner/ir/token_set.hpp"

namespace hsap {

/// Deals rows, as they are counted, to stages of about equal size, the last stage first.
class StageCounter {
 public:
  /// `total` = rows that will be counted; not looked at for one stage. Stages get at least `least_rows`, or there are fewer.
  StageCounter(Token total, int stages, Token least_rows)
      : total_(total), stages_(stages == 1 ? 1 : std::clamp<Token>(total / std::max<Token>(1, least_rows), 1, stages)) {}

  /// Calls visit(stage, part) for the parts of rows that follow those before.
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

}  // namespace hsap
