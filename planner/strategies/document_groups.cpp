#include "planner/strategies/document_groups.hpp"

#include <utility>

#include "planner/strategies/ring_pass.hpp"

namespace hsap {

Schedule compile_groups(const std::string& strategy, const Degrees& degrees, const Problem& problem,
                        const std::vector<DocumentGroup>& groups, const PassOn& pass) {
  ProgramBuilder builder(strategy, degrees, problem, placement_of(groups, problem.ranks));
  for (const DocumentGroup& group : groups) {
    if (group.documents.empty()) continue;
    const TokenSet documents(group.documents);
    std::vector<View> views;
    for (const RankId rank : group.ranks) views.push_back(part_of(builder, boundary_view(builder, rank), documents));
    if (views.size() == 1) {
      attend_locally(builder, views.front());
      continue;
    }
    std::vector<RingPlace> places;
    for (const View& view : views) places.push_back(place_by_halves(builder, view));
    ring_pass(builder, std::move(places), {.pass = pass});
  }
  return builder.take();
}

}  // namespace hsap
