#include "planner/ir/document_mask.hpp"

#include <algorithm>
#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Sums of prefix counts of one document's keys: integral(t) = sum over u in [begin, t) of |keys below u|, so that pairs of a
/// range of queries are differences of it. Moves forward only: calls must ascend in t.
class PrefixCounts {
 public:
  PrefixCounts(const TokenSet& keys, Token document_begin) : ranges_(keys.ranges()), at_(document_begin) {
    range_ = static_cast<std::size_t>(std::upper_bound(ranges_.begin(), ranges_.end(), document_begin,
                                                       [](Token t, const TokenRange& r) { return t < r.end; }) -
                                      ranges_.begin());
  }

  std::int64_t integral(Token t) {
    while (at_ < t) {
      if (range_ == ranges_.size() || t <= ranges_[range_].begin) {
        flat(t);
      } else {
        if (at_ < ranges_[range_].begin) flat(ranges_[range_].begin);
        const Token stop = std::min(t, ranges_[range_].end);
        const Token n = stop - at_;
        sum_ += n * count_ + n * (n - 1) / 2;
        count_ += n;
        at_ = stop;
        if (stop == ranges_[range_].end) ++range_;
      }
    }
    return sum_;
  }

 private:
  void flat(Token t) {
    sum_ += (t - at_) * count_;
    at_ = t;
  }
  const std::vector<TokenRange>& ranges_;
  std::size_t range_ = 0;
  Token at_;
  std::int64_t count_ = 0;  // keys of the document below at_
  std::int64_t sum_ = 0;
};

}  // namespace

DocumentMask::DocumentMask(std::vector<Token> offsets, std::optional<Token> window)
    : offsets_(std::move(offsets)), window_(window) {
  if (offsets_.empty() || offsets_.front() != 0)
    throw InvalidInput("document offsets: the first must be 0, found " +
                       (offsets_.empty() ? std::string("no offset") : std::to_string(offsets_.front())));
  for (std::size_t i = 1; i < offsets_.size(); ++i)
    if (offsets_[i] <= offsets_[i - 1])
      throw InvalidInput("document offsets: offset " + std::to_string(i) + " is " + std::to_string(offsets_[i]) +
                         ", expected more than its predecessor " + std::to_string(offsets_[i - 1]));
  if (window_ && *window_ < 1)
    throw InvalidInput("sliding window: found " + std::to_string(*window_) + ", expected at least 1 token");
}

std::size_t DocumentMask::document_of(Token token) const {
  return static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), token) - offsets_.begin()) - 1;
}

TokenRange DocumentMask::visible_keys(Token query) const {
  const Token begin = offsets_[document_of(query)];
  return {window_ ? std::max(begin, query - *window_ + 1) : begin, query + 1};
}

std::int64_t DocumentMask::pairs(const TokenSet& queries, const TokenSet& keys) const {
  std::int64_t total = 0;
  std::size_t document = 0;
  const auto& ranges = queries.ranges();
  for (std::size_t i = 0; i < ranges.size();) {
    if (offsets_[document + 1] <= ranges[i].begin) document = document_of(ranges[i].begin);
    // All query ranges that reach into this document, one after another; `i` stays on a range that goes on in the next one.
    const auto [begin, end] = this->document(document);
    PrefixCounts seen(keys, begin);
    PrefixCounts passed(keys, begin);
    for (; i < ranges.size() && ranges[i].begin < end; ++i) {
      const Token first = std::max(begin, ranges[i].begin);
      const Token last = std::min(end, ranges[i].end);
      // query q sees |keys below q+1| - |keys below max(begin, q-window+1)|
      const std::int64_t before = seen.integral(first + 1);
      total += seen.integral(last + 1) - before;
      if (window_) {
        const std::int64_t out_before = passed.integral(std::max(begin, first - *window_ + 1));
        total -= passed.integral(std::max(begin, last - *window_ + 1)) - out_before;
      }
      if (ranges[i].end > end) break;
    }
    ++document;
  }
  return total;
}

std::int64_t DocumentMask::pairs() const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < documents(); ++i) {
    const Token length = document(i).size();
    const Token full = window_ ? std::min(*window_, length) : length;
    total += full * (full + 1) / 2 + (length - full) * full;
  }
  return total;
}

TokenSet DocumentMask::keys_seen_by(const TokenSet& queries) const {
  std::vector<TokenRange> keys;
  for (const TokenRange& range : queries.ranges())
    for (std::size_t d = document_of(range.begin); d < documents() && offsets_[d] < range.end; ++d) {
      const Token first = std::max(range.begin, offsets_[d]);
      keys.push_back(
          {window_ ? std::max(offsets_[d], first - *window_ + 1) : offsets_[d], std::min(range.end, offsets_[d + 1])});
    }
  return TokenSet(std::move(keys));
}

TokenSet DocumentMask::queries_seeing(const TokenSet& keys) const {
  std::vector<TokenRange> queries;
  for (const TokenRange& range : keys.ranges())
    for (std::size_t d = document_of(range.begin); d < documents() && offsets_[d] < range.end; ++d) {
      const Token last = std::min(range.end, offsets_[d + 1]) - 1;
      queries.push_back(
          {std::max(range.begin, offsets_[d]), window_ ? std::min(offsets_[d + 1], last + *window_) : offsets_[d + 1]});
    }
  return TokenSet(std::move(queries));
}

}  // namespace hsap
