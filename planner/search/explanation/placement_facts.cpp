#include "planner/search/explanation/placement_facts.hpp"

#include <algorithm>

#include "planner/ir/work.hpp"

namespace hsap {

namespace {

/// Adds what `rank` owns to the documents. Ranks must come in ascending order.
void add_owned(std::vector<DocumentPlacement>& placements, const DocumentMask& documents, RankId rank, const TokenSet& owned) {
  std::size_t document = 0;
  Token share = 0;  // of `document`
  const auto finish = [&] {
    if (share == 0) return;
    DocumentPlacement& placement = placements[document];
    placement.ranks.push_back(rank);
    if (share > placement.largest_share) placement.largest_share = share, placement.largest_share_rank = rank;
    share = 0;
  };
  for (const TokenRange& range : owned.ranges()) {
    std::size_t d = documents.document_of(range.begin);
    for (Token begin = range.begin; begin < range.end; ++d) {
      const Token end = std::min(range.end, documents.document(d).end);
      if (d != document) finish();
      document = d;
      share += end - begin;
      ++placements[d].pieces;
      begin = end;
    }
  }
  finish();
}

double pairs_computed_by(const Schedule& schedule, RankId rank) {
  double pairs = 0;
  for (const Op& op : schedule.ranks[rank].forward)
    if (const auto* attend = std::get_if<Attend>(&op.body))
      pairs += static_cast<double>(pairs_of(schedule, *attend)) * attend->q.heads.size();
  return pairs / schedule.shape.query_heads;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread{values[0], 0, values[0], 0, 0};
  for (RankId rank = 0; rank < values.size(); ++rank) {
    spread.mean += values[rank] / static_cast<double>(values.size());
    if (values[rank] < spread.least) spread.least = values[rank], spread.least_rank = rank;
    if (values[rank] > spread.most) spread.most = values[rank], spread.most_rank = rank;
  }
  return spread;
}

PlacementFacts placement_facts(const Schedule& schedule, const DocumentMask& documents) {
  PlacementFacts facts;
  for (std::size_t d = 0; d < documents.documents(); ++d) {
    DocumentPlacement& placement = facts.documents.emplace_back();
    placement.document = d;
    placement.tokens = documents.document(d).size();
  }
  for (RankId rank = 0; rank < schedule.ranks.size(); ++rank) {
    const TokenSet& owned = schedule.tokens(schedule.ranks[rank].tokens);
    add_owned(facts.documents, documents, rank, owned);
    facts.tokens_owned.push_back(static_cast<double>(owned.size()));
    facts.pairs_computed.push_back(pairs_computed_by(schedule, rank));
  }
  facts.documents_on_one_rank =
      static_cast<std::size_t>(std::count_if(facts.documents.begin(), facts.documents.end(),
                                             [](const DocumentPlacement& placement) { return placement.ranks.size() == 1; }));
  std::stable_sort(facts.documents.begin(), facts.documents.end(),
                   [](const DocumentPlacement& a, const DocumentPlacement& b) { return a.tokens > b.tokens; });
  return facts;
}

}  // namespace hsap
