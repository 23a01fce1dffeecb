// The placement of blocks: one partitioner, used for the nodes and then for the groups of each node.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planner/ir/errors.hpp"
#include "planner/placement/placement.hpp"

namespace hsap {

namespace {

/// How often the blocks at the cuts are looked at: a move may open the way for another.
constexpr int kRefinements = 2;

void check(int groups, const BlockOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw InvalidInput("placement of blocks: " + what + " is " + found + ", expected at least " + expected);
  };
  if (groups < 1) refuse("the number of groups", std::to_string(groups), "1");
  if (options.groups_per_node < 1) refuse("groups_per_node", std::to_string(options.groups_per_node), "1");
  if (options.block < 1) refuse("the size of a block", std::to_string(options.block), "1");
  for (const double tolerance : {options.node_tolerance, options.group_tolerance, options.token_tolerance})
    if (!(tolerance >= 0)) refuse("a tolerance", std::to_string(tolerance), "0");
}

struct Block {
  std::size_t document;
  TokenRange rows;
  double pairs;
};

std::vector<Block> cut(const DocumentMask& mask, Token size) {
  const TokenSet all{{0, mask.tokens()}};
  std::vector<Block> blocks;
  for (std::size_t d = 0; d < mask.documents(); ++d) {
    const auto [first, last] = mask.document(d);
    for (Token begin = first; begin < last; begin += size) {
      const TokenRange rows{begin, std::min(begin + size, last)};
      blocks.push_back({d, rows, static_cast<double>(mask.pairs(TokenSet{rows}, all))});
    }
  }
  return blocks;
}

/// A node or a group: what it should get, what it may get, and what it has.
struct Part {
  double target = 0;  // pairs
  double most = 0;    // pairs
  Token most_tokens = 0;
  double pairs = 0;
  Token tokens = 0;

  double load() const { return pairs / target; }
  bool has_room(double more_pairs, Token more_tokens) const {
    return pairs + more_pairs <= most && tokens + more_tokens <= most_tokens;
  }
  void add(const Block& block) { pairs += block.pairs, tokens += block.rows.size(); }
  void remove(const Block& block) { pairs -= block.pairs, tokens -= block.rows.size(); }
};

/// Blocks of one document that are shared out: first .. last-1.
struct Run {
  std::size_t first, last;
  double pairs = 0;
  Token tokens = 0;
};

class Partition {
 public:
  /// Documents' blocks are neighbours in `blocks`, ascending.
  Partition(const DocumentMask& mask, const std::vector<Block>& blocks, std::vector<Part> parts)
      : mask_(mask), blocks_(blocks), parts_(std::move(parts)), part_of_(blocks.size(), 0) {}

  /// The part of each block.
  const std::vector<std::size_t>& solve() {
    for (std::size_t part = 0; part < parts_.size(); ++part) by_load_.insert({parts_[part].load(), part});
    std::vector<Run> runs = documents();
    std::vector<Run> costliest = runs;
    std::stable_sort(costliest.begin(), costliest.end(), [](const Run& a, const Run& b) { return a.pairs > b.pairs; });
    for (const Run& run : costliest) spread(run);
    for (int round = 0; round < kRefinements; ++round)
      for (const Run& run : runs) refine(run);
    return part_of_;
  }

 private:
  std::vector<Run> documents() const {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (runs.empty() || blocks_[i].document != blocks_[runs.back().first].document) runs.push_back({i, i});
      runs.back().last = i + 1;
      runs.back().pairs += blocks_[i].pairs;
      runs.back().tokens += blocks_[i].rows.size();
    }
    return runs;
  }

  void put(std::size_t block, std::size_t part) {
    by_load_.erase({parts_[part].load(), part});
    parts_[part].add(blocks_[block]);
    by_load_.insert({parts_[part].load(), part});
    part_of_[block] = part;
  }

  void move(std::size_t block, std::size_t part) {
    Part& from = parts_[part_of_[block]];
    by_load_.erase({from.load(), part_of_[block]});
    from.remove(blocks_[block]);
    by_load_.insert({from.load(), part_of_[block]});
    put(block, part);
  }

  /// Whole where there is room, else tail first.
  void spread(Run run) {
    while (run.first < run.last) {
      for (const auto& candidate : by_load_) {
        const std::size_t part = candidate.second;  // put() erases the candidate
        if (!parts_[part].has_room(run.pairs, run.tokens)) continue;
        for (std::size_t block = run.first; block < run.last; ++block) put(block, part);
        return;
      }
      const std::size_t part = emptiest(blocks_[run.last - 1].rows.size());
      do {
        --run.last;
        run.pairs -= blocks_[run.last].pairs;
        run.tokens -= blocks_[run.last].rows.size();
        put(run.last, part);
      } while (run.first < run.last && parts_[part].pairs + blocks_[run.last - 1].pairs <= parts_[part].target &&
               parts_[part].tokens + blocks_[run.last - 1].rows.size() <= parts_[part].most_tokens);
    }
  }

  /// The part with the least load that has room for so many tokens; where none has, the one with the most room.
  std::size_t emptiest(Token tokens) const {
    for (const auto& [load, part] : by_load_)
      if (parts_[part].tokens + tokens <= parts_[part].most_tokens) return part;
    const auto room = [](const Part& part) { return part.most_tokens - part.tokens; };
    return static_cast<std::size_t>(
        std::max_element(parts_.begin(), parts_.end(), [&](const Part& a, const Part& b) { return room(a) < room(b); }) -
        parts_.begin());
  }

  /// Keys that must be moved for these rows.
  Token missing(const TokenSet& rows) const { return difference(mask_.keys_seen_by(rows), rows).size(); }

  /// Lets blocks at the cuts of a document change sides.
  void refine(const Run& run) {
    std::map<std::size_t, TokenSet> held;  // rows of the document by part
    {
      std::map<std::size_t, std::vector<TokenRange>> ranges;
      for (std::size_t block = run.first; block < run.last; ++block) ranges[part_of_[block]].push_back(blocks_[block].rows);
      if (ranges.size() == 1) return;
      for (auto& [part, of_part] : ranges) held[part] = TokenSet(std::move(of_part));
    }
    const auto try_move = [&](std::size_t block, std::size_t to) {
      const std::size_t from = part_of_[block];
      if (from == to || !parts_[to].has_room(blocks_[block].pairs, blocks_[block].rows.size())) return;
      const TokenSet rows{blocks_[block].rows};
      TokenSet less = difference(held[from], rows), more = set_union(held[to], rows);
      if (missing(less) + missing(more) >= missing(held[from]) + missing(held[to])) return;
      move(block, to);
      held[from] = std::move(less), held[to] = std::move(more);
    };
    for (std::size_t block = run.first; block + 1 < run.last; ++block) {
      try_move(block, part_of_[block + 1]);
      try_move(block + 1, part_of_[block]);
    }
  }

  const DocumentMask& mask_;
  const std::vector<Block>& blocks_;
  std::vector<Part> parts_;
  std::vector<std::size_t> part_of_;                  // [block]
  std::set<std::pair<double, std::size_t>> by_load_;  // of equal loads the first part
};

/// Blocks shared out over parts that are `weights` groups each.
std::vector<std::vector<Block>> share(const DocumentMask& mask, const std::vector<Block>& blocks,
                                      const std::vector<int>& weights, Token tokens_of_group, double tolerance) {
  double pairs = 0;
  for (const Block& block : blocks) pairs += block.pairs;
  const int groups = std::accumulate(weights.begin(), weights.end(), 0);
  std::vector<Part> parts;
  for (const int weight : weights) {
    const double target = pairs * weight / groups;
    parts.push_back({.target = target, .most = target * (1 + tolerance), .most_tokens = tokens_of_group * weight});
  }
  std::vector<std::vector<Block>> result(weights.size());
  if (blocks.empty()) return result;
  Partition partition(mask, blocks, std::move(parts));
  const std::vector<std::size_t>& part_of = partition.solve();
  for (std::size_t i = 0; i < blocks.size(); ++i) result[part_of[i]].push_back(blocks[i]);
  return result;
}

}  // namespace

Placement place_blocks(const DocumentMask& mask, int groups, const BlockOptions& options) {
  check(groups, options);
  const double most = std::ceil((1 + options.token_tolerance) * static_cast<double>(mask.tokens()) / groups);
  const Token tokens_of_group = (static_cast<Token>(most) + options.block - 1) / options.block * options.block;
  std::vector<int> nodes;  // groups of each
  for (int first = 0; first < groups; first += options.groups_per_node)
    nodes.push_back(std::min(options.groups_per_node, groups - first));

  Placement placement;
  placement.reserve(static_cast<std::size_t>(groups));
  const auto by_node = share(mask, cut(mask, options.block), nodes, tokens_of_group,
                             options.groups_per_node == 1 ? options.group_tolerance : options.node_tolerance);
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::vector<int> single(static_cast<std::size_t>(nodes[node]), 1);
    for (const std::vector<Block>& held : share(mask, by_node[node], single, tokens_of_group, options.group_tolerance)) {
      std::vector<TokenRange> ranges;
      for (const Block& block : held) ranges.push_back(block.rows);
      placement.emplace_back(std::move(ranges));
    }
  }
  return placement;
}

}  // namespace hsap
