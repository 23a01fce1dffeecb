#include "backend/visible_rows.hpp"

#include <algorithm>

namespace hsap {

namespace {

/// TokenSet::row_of for tokens that never descend: steps through the ranges once.
class AscendingRows {
 public:
  explicit AscendingRows(const TokenSet& set) : ranges_(set.ranges()) {}

  Index row_of(Token token) {
    for (; range_ < ranges_.size() && ranges_[range_].end <= token; ++range_) rows_before_ += ranges_[range_].size();
    if (range_ == ranges_.size()) return rows_before_;
    return rows_before_ + std::max<Token>(0, token - ranges_[range_].begin);
  }

 private:
  const Ranges ranges_;
  std::size_t range_ = 0;
  Index rows_before_ = 0;
};

}  // namespace

std::vector<Index> row_tokens(const TokenSet& set) {
  std::vector<Index> tokens;
  tokens.reserve(static_cast<std::size_t>(set.size()));
  for (const TokenRange& range : set.ranges())
    for (Token token = range.begin; token < range.end; ++token) tokens.push_back(token);
  return tokens;
}

VisibleRows visible_rows(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys) {
  const MaskRule& rule = mask.rule();
  const bool has_sinks = rule.sinks > 0;
  VisibleRows visible;
  visible.main.reserve(static_cast<std::size_t>(queries.size()));
  if (has_sinks) visible.sinks.reserve(static_cast<std::size_t>(queries.size()));
  AscendingRows begins(keys), ends(keys), sink_begins(keys), sink_ends(keys);
  for (const TokenRange& range : queries.ranges()) {
    Token query = range.begin;
    for (std::size_t document = mask.document_of(query); query < range.end; ++document) {
      const auto [begin, end] = mask.document(document);
      for (; query < std::min(end, range.end); ++query) {
        const Token row = query - begin;
        visible.main.push_back(
            {begins.row_of(begin + rule.first_key(row)), ends.row_of(begin + rule.end_key(row, end - begin))});
        if (has_sinks) visible.sinks.push_back({sink_begins.row_of(begin), sink_ends.row_of(begin + rule.sink_end(row))});
      }
    }
  }
  return visible;
}

}  // namespace hsap
