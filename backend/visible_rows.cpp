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
  const std::vector<TokenRange>& ranges_;
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

std::vector<RowInterval> visible_rows(const DocumentMask& mask, const TokenSet& queries, const TokenSet& keys) {
  std::vector<RowInterval> visible;
  visible.reserve(static_cast<std::size_t>(queries.size()));
  AscendingRows begins(keys);
  AscendingRows ends(keys);
  for (const TokenRange& range : queries.ranges()) {
    Token query = range.begin;
    for (std::size_t document = mask.document_of(query); query < range.end; ++document) {
      const TokenRange tokens = mask.document(document);
      for (; query < std::min(tokens.end, range.end); ++query) {
        const Token first = mask.window() ? std::max(tokens.begin, query - *mask.window() + 1) : tokens.begin;
        visible.push_back({begins.row_of(first), ends.row_of(query + 1)});
      }
    }
  }
  return visible;
}

}  // namespace hsap
