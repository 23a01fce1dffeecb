#include "planner/ir/document_mask.hpp"

#include <algorithm>
#include <utility>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

/// Prefix counts C(t) = |keys of one document below t| and their sums. Moves forward only: calls must ascend in t.
class PrefixCounts {
 public:
  PrefixCounts(const TokenSet& keys, Token document_begin) : ranges_(keys.ranges()), at_(document_begin) {
    range_ = static_cast<std::size_t>(std::upper_bound(ranges_.begin(), ranges_.end(), document_begin,
                                                       [](Token t, const TokenRange& r) { return t < r.end; }) -
                                      ranges_.begin());
  }

  std::int64_t count(Token t) {
    advance(t);
    return count_;
  }

  /// Sum of C(min(max(t, low), high)) over t in `range`. @pre low <= high
  std::int64_t sum_of_clamped(TokenRange range, Token low, Token high) {
    const Token first = std::clamp(low, range.begin, range.end);
    const Token last = std::clamp(high, first, range.end);
    std::int64_t total = 0;
    if (range.begin < first) total += (first - range.begin) * count(low);
    if (first < last) {
      advance(first);
      const std::int64_t before = sum_;
      advance(last);
      total += sum_ - before;
    }
    if (last < range.end) total += (range.end - last) * count(high);
    return total;
  }

 private:
  void advance(Token t) {
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
  }
  void flat(Token t) {
    sum_ += (t - at_) * count_;
    at_ = t;
  }
  const Ranges ranges_;
  std::size_t range_ = 0;
  Token at_;
  std::int64_t count_ = 0;  // keys of the document below at_
  std::int64_t sum_ = 0;    // of C(t) over t below at_
};

/// Pairs of ascending ranges of queries of one document with a set of keys: each query sees C(end of what it sees) keys, less
/// those before its window or block, plus the sinks among these.
class DocumentPairs {
 public:
  DocumentPairs(const MaskRule& rule, TokenRange document, const TokenSet& keys)
      : rule_(rule),
        document_(document),
        ends_(keys, document.begin),
        begins_(keys, document.begin),
        sinks_(keys, document.begin),
        sinks_end_(document.begin + std::min(rule.sinks, document.size())) {}

  std::int64_t of(TokenRange queries) {
    std::int64_t total = 0;
    if (rule_.right) {
      const Token low = document_.begin + std::min(rule_.prefix, document_.size());
      const Token shift = std::min(*rule_.right, document_.size()) + 1;
      total += ends_.sum_of_clamped({queries.begin + shift, queries.end + shift}, low, document_.end);
    } else {
      total += queries.size() * ends_.count(document_.end);
    }
    if (rule_.left) {
      const Token shift = std::min(*rule_.left, document_.size());
      const TokenRange first{queries.begin - shift, queries.end - shift};  // first keys, as if the document began earlier
      total += sinks_.sum_of_clamped(first, document_.begin, sinks_end_) -
               begins_.sum_of_clamped(first, document_.begin, document_.end);
    } else if (rule_.chunk) {
      for (Token begin = queries.begin; begin < queries.end;) {
        const Token row = begin - document_.begin;
        const Token block = document_.begin + rule_.first_key(row);
        const Token end = std::min(queries.end, document_.begin + rule_.end_query(row, document_.size()));
        total += (end - begin) * (sinks_.count(std::min(block, sinks_end_)) - begins_.count(block));
        begin = end;
      }
    }
    return total;
  }

 private:
  const MaskRule& rule_;
  TokenRange document_;
  PrefixCounts ends_, begins_, sinks_;
  Token sinks_end_;
};

}  // namespace

DocumentMask::DocumentMask(std::vector<Token> offsets, const MaskRule& rule) : offsets_(std::move(offsets)), rule_(rule) {
  if (offsets_.empty() || offsets_.front() != 0)
    throw InvalidInput("document offsets: the first must be 0, found " +
                       (offsets_.empty() ? std::string("no offset") : std::to_string(offsets_.front())));
  for (std::size_t i = 1; i < offsets_.size(); ++i)
    if (offsets_[i] <= offsets_[i - 1])
      throw InvalidInput("document offsets: offset " + std::to_string(i) + " is " + std::to_string(offsets_[i]) +
                         ", expected more than its predecessor " + std::to_string(offsets_[i - 1]));
  check(rule_);
}

std::size_t DocumentMask::document_of(Token token) const {
  return static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), token) - offsets_.begin()) - 1;
}

VisibleKeys DocumentMask::visible_keys(Token query) const { return keys_seen_by(document_of(query), {query, query + 1}); }

// Rows a .. b-1 see, together, [first_key(a), end_key(b-1)) without a hole, because first_key(x + 1) <= x + 1 <= end_key(x);
// and the sinks [0, min(sinks, first_key(b-1))), of which those from first_key(a) on lie in that interval already.
VisibleKeys DocumentMask::keys_seen_by(std::size_t document, TokenRange rows) const {
  const auto [begin, end] = this->document(document);
  const Token first = rows.begin - begin;
  return {{begin, begin + rule_.sink_end(first)},
          {begin + rule_.first_key(first), begin + rule_.end_key(rows.end - 1 - begin, end - begin)}};
}

SeeingQueries DocumentMask::queries_seeing(std::size_t document, TokenRange keys) const {
  const auto [begin, end] = this->document(document);
  const Token others = std::max(keys.begin - begin, rule_.sinks);  // the first that is no sink
  SeeingQueries queries;
  if (keys.begin - begin < rule_.sinks) queries.of_sinks = {begin + rule_.first_query(keys.begin - begin), end};
  if (others < keys.end - begin)
    queries.of_others = {begin + rule_.first_query(others), begin + rule_.end_query(keys.end - 1 - begin, end - begin)};
  return queries;
}

std::int64_t DocumentMask::pairs(const TokenSet& queries, const TokenSet& keys) const {
  std::int64_t total = 0;
  std::size_t document = 0;
  const Ranges ranges = queries.ranges();
  for (std::size_t i = 0; i < ranges.size();) {
    if (offsets_[document + 1] <= ranges[i].begin) document = document_of(ranges[i].begin);
    // All query ranges that reach into this document, one after another; `i` stays on a range that goes on in the next one.
    const auto [begin, end] = this->document(document);
    DocumentPairs pairs(rule_, {begin, end}, keys);
    for (; i < ranges.size() && ranges[i].begin < end; ++i) {
      total += pairs.of({std::max(begin, ranges[i].begin), std::min(end, ranges[i].end)});
      if (ranges[i].end > end) break;
    }
    ++document;
  }
  return total;
}

std::int64_t DocumentMask::pairs() const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < documents(); ++i) total += rule_.pairs(document(i).size(), document(i).size());
  return total;
}

TokenSet DocumentMask::keys_seen_by(const TokenSet& queries) const {
  std::vector<TokenRange> keys;
  for (const TokenRange& range : queries.ranges())
    for (std::size_t d = document_of(range.begin); d < documents() && offsets_[d] < range.end; ++d) {
      const VisibleKeys seen = keys_seen_by(d, {std::max(range.begin, offsets_[d]), std::min(range.end, offsets_[d + 1])});
      keys.push_back(seen.sinks);
      keys.push_back(seen.main);
    }
  return TokenSet(std::move(keys));
}

template <class Visit>
void DocumentMask::each_seeing(const TokenSet& keys, const Visit& visit) const {
  for (const TokenRange& range : keys.ranges())
    for (std::size_t d = document_of(range.begin); d < documents() && offsets_[d] < range.end; ++d) {
      const SeeingQueries seeing =
          queries_seeing(d, {std::max(range.begin, offsets_[d]), std::min(range.end, offsets_[d + 1])});
      visit(seeing.of_sinks);
      visit(seeing.of_others);
    }
}

TokenSet DocumentMask::queries_seeing(const TokenSet& keys) const {
  std::vector<TokenRange> queries;
  each_seeing(keys, [&](const TokenRange& range) { queries.push_back(range); });
  return TokenSet(std::move(queries));
}

void DocumentMask::queries_seeing(const TokenSet& keys, const TokenSet& among, std::vector<TokenRange>& queries) const {
  queries.clear();
  each_seeing(keys, [&](const TokenRange& range) {
    if (range.size() > 0) add_clipped(among, range.begin, range.end, queries);
  });
  normalise(queries);
}

}  // namespace hsap
