#include "planner/ir/verify/values.hpp"

#include <algorithm>
#include <utility>

namespace hsap::proof {

ValueId Values::term(const Term& term) {
  const std::uint32_t heads = code_of(term.query_heads);
  if (const auto known = single_.find(term.tokens, heads)) return *known;
  const auto id = static_cast<ValueId>(nodes_.size());
  nodes_.push_back({kInput, kInput, term, 1, term.tokens >= kZeroOfRank});
  single_.insert(term.tokens, heads, id);
  return id;
}

ValueId Values::sum(ValueId a, ValueId b) {
  if (b < a) std::swap(a, b);
  if (const auto known = sums_.find(a, b)) return *known;
  const auto id = static_cast<ValueId>(nodes_.size());
  // Saturates, because repeated doubling would overflow.
  nodes_.push_back({a, b, {}, std::min(nodes_[a].terms + nodes_[b].terms, kMaxTerms + 1), nodes_[a].zeros && nodes_[b].zeros});
  sums_.insert(a, b, id);
  return id;
}

std::vector<Term> Values::terms_of(ValueId value) const {
  std::vector<Term> found;
  found.reserve(nodes_[value].terms);
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    if (node.left == kInput)
      found.push_back(node.term);
    else
      open.push_back(node.left), open.push_back(node.right);
  }
  return found;
}

}  // namespace hsap::proof
