#include "planner/strategies/document_degrees.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace hsap {

namespace {

std::vector<int> group_sizes(int ranks) {
  std::vector<int> sizes{1};
  while (ranks % (2 * sizes.back()) == 0) sizes.push_back(2 * sizes.back());
  if (sizes.back() != ranks) sizes.push_back(ranks);
  return sizes;
}

std::vector<DocumentGroup> aligned_groups(int ranks, int size) {
  std::vector<DocumentGroup> groups(static_cast<std::size_t>(ranks / size));
  for (RankId rank = 0; rank < static_cast<RankId>(ranks); ++rank)
    groups[rank / static_cast<RankId>(size)].ranks.push_back(rank);
  return groups;
}

}  // namespace

void RankLoads::deal(const DocumentMask& mask, std::vector<TokenRange> documents, std::vector<DocumentGroup>& groups) {
  std::vector<std::pair<double, TokenRange>> costs;  // pairs of the document
  for (const TokenRange& document : documents)
    costs.emplace_back(static_cast<double>(mask.pairs(TokenSet{document}, TokenSet{document})), document);
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });

  using Candidate = std::pair<double, std::size_t>;  // load of the busiest rank, group
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> least;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double busiest = 0;
    for (const RankId rank : groups[g].ranks) busiest = std::max(busiest, loads_[rank]);
    least.emplace(busiest, g);
  }
  for (const auto& [pairs, document] : costs) {
    const auto [busiest, g] = least.top();
    least.pop();
    DocumentGroup& group = groups[g];
    const double share = pairs / static_cast<double>(group.ranks.size());
    for (const RankId rank : group.ranks) loads_[rank] += share;
    group.documents.push_back(document);
    least.emplace(busiest + share, g);
  }
}

std::vector<DocumentGroup> groups_by_degree(const DocumentMask& mask, int ranks, Token block) {
  const std::vector<int> sizes = group_sizes(ranks);
  std::vector<std::vector<TokenRange>> of_size(sizes.size());
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const TokenRange document = mask.document(d);
    std::size_t size = 0;
    while (size + 1 < sizes.size() && document.size() > block * sizes[size]) ++size;
    of_size[size].push_back(document);
  }
  RankLoads loads(ranks);
  std::vector<DocumentGroup> groups;
  for (std::size_t size = sizes.size(); size-- > 0;) {
    std::vector<DocumentGroup> candidates = aligned_groups(ranks, sizes[size]);
    loads.deal(mask, of_size[size], candidates);
    for (DocumentGroup& group : candidates) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<DocumentGroup> groups_by_class(const DocumentMask& mask, const std::vector<int>& node_of_rank) {
  std::vector<DocumentGroup> inter(1), local(node_of_rank.size());
  std::map<int, DocumentGroup> by_node;
  for (RankId rank = 0; rank < node_of_rank.size(); ++rank) {
    inter.front().ranks.push_back(rank);
    by_node[node_of_rank[rank]].ranks.push_back(rank);
    local[rank].ranks.push_back(rank);
  }
  std::vector<DocumentGroup> intra;
  for (auto& [node, group] : by_node) intra.push_back(std::move(group));

  const Token tokens = mask.tokens();
  const auto share_of = [&](std::size_t parts) { return (tokens - 1) / static_cast<Token>(parts) + 1; };
  std::vector<TokenRange> long_ones, middle_ones, short_ones;
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const TokenRange document = mask.document(d);
    const bool is_short = document.size() <= share_of(local.size());
    const bool is_middle = document.size() <= share_of(intra.size());
    (is_short ? short_ones : is_middle ? middle_ones : long_ones).push_back(document);
  }
  RankLoads loads(static_cast<int>(node_of_rank.size()));
  loads.deal(mask, std::move(long_ones), inter);
  loads.deal(mask, std::move(middle_ones), intra);
  loads.deal(mask, std::move(short_ones), local);
  std::vector<DocumentGroup> groups;
  for (const auto* of_class : {&inter, &intra, &local}) groups.insert(groups.end(), of_class->begin(), of_class->end());
  return groups;
}

Placement placement_of(const std::vector<DocumentGroup>& groups, int ranks) {
  std::vector<std::vector<TokenRange>> owned(static_cast<std::size_t>(ranks));
  for (const DocumentGroup& group : groups) {
    const Placement shards = place_zigzag(group.documents, static_cast<int>(group.ranks.size()));
    for (std::size_t i = 0; i < shards.size(); ++i) {
      std::vector<TokenRange>& tokens = owned[group.ranks[i]];
      tokens.insert(tokens.end(), shards[i].ranges().begin(), shards[i].ranges().end());
    }
  }
  Placement placement;
  for (std::vector<TokenRange>& ranges : owned) placement.emplace_back(std::move(ranges));
  return placement;
}

}  // namespace hsap
