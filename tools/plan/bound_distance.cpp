#include "tools/plan/bound_distance.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "planner/ir/units.hpp"
#include "tools/plan/explanation_words.hpp"
#include "tools/terminal.hpp"

namespace hsap {

const std::array<CauseName, 8>& cause_names() {
  static const std::array<CauseName, 8> names = {{
      {"extra_work", "extra work", "matrix work above the least", &TimeCauses::extra_work},
      {"imbalance", "imbalance", "the busiest rank's work above the mean", &TimeCauses::imbalance},
      {"memory_cap", "memory cap", "imbalance that the cap on tokens costs", &TimeCauses::memory_cap},
      {"kernel_fragments", "kernel fragments", "short pieces, few heads: below the best rate", &TimeCauses::kernel_fragments},
      {"other_kernels", "other kernels", "its merges, sums, copies", &TimeCauses::other_kernels},
      {"exposed_communication", "exposed communication", "its messages are on the links, it computes nothing",
       &TimeCauses::exposed_communication},
      {"latency", "latency", "its messages are on their way to the links", &TimeCauses::latency},
      {"waiting", "waiting", "no message travels: peers are late, or it is done", &TimeCauses::waiting},
  }};
  return names;
}

nlohmann::ordered_json causes_json(const TimeCauses& causes) {
  nlohmann::ordered_json json = {
      {"seconds", causes.seconds}, {"bound_seconds", causes.bound_seconds}, {"busiest_rank", causes.busiest_rank}};
  for (const CauseName& cause : cause_names()) json[cause.key] = causes.*cause.seconds;
  return json;
}

std::string bound_meaning(Objective objective) {
  return objective == Objective::layer ? "attention's least matrix work and the linear work of all tokens at their best rates, "
                                         "spread evenly over the GPUs"
                                       : "attention's least matrix work at the best rate, spread evenly over the GPUs";
}

std::string distance_text(const Comparison& comparison, const std::string& label, std::size_t label_width) {
  std::string text = labelled(label, label_width,
                              format_seconds(comparison.lower_bound_seconds()) + ", " + comparison.bounds.front().name +
                                  " binds: " + bound_meaning(comparison.objective)) +
                     "\n";
  if (!comparison.best_causes) return text;
  const TimeCauses sum = sum_of(*comparison.best_causes);
  std::vector<CauseName> causes(cause_names().begin(), cause_names().end());
  std::stable_sort(causes.begin(), causes.end(),
                   [&](const CauseName& a, const CauseName& b) { return sum.*a.seconds > sum.*b.seconds; });
  std::string above = format_seconds(sum.sum());
  for (const CauseName& cause : causes) {
    const double seconds = sum.*cause.seconds;
    if (seconds < 5e-4 * sum.sum()) break;  // 0.0 %
    above += (&cause == &causes.front() ? ": " : "; ") + std::string(cause.name) + " " + format_seconds(seconds) + " (" +
             percent(seconds, sum.sum()) + ")";
  }
  return text + labelled("above it", label_width, above) + "\n";
}

}  // namespace hsap
