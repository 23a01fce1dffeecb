#include "tools/plan/explanation_words.hpp"

#include <algorithm>
#include <iterator>

#include "planner/inputs/input_text.hpp"
#include "planner/ir/units.hpp"
#include "tools/terminal.hpp"

namespace hsap {

std::string rank_list(const std::vector<RankId>& ranks, std::size_t width) {
  static const std::string kMore = ", ...";
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    std::string piece = text.empty() ? "" : ", ";
    piece += std::to_string(ranks[first]);
    if (last > first) piece += (last == first + 1 ? ", " : "-") + std::to_string(ranks[last]);
    const bool ends = last + 1 == ranks.size();
    if (!text.empty() && text.size() + piece.size() + (ends ? 0 : kMore.size()) > width) return text + kMore;
    text += piece;
    first = last + 1;
  }
  return text;
}

std::string role_list(const std::vector<Role>& roles) {
  std::vector<std::string> names;
  std::transform(roles.begin(), roles.end(), std::back_inserter(names), [](Role role) { return to_string(role); });
  return listed(names);
}

std::vector<std::string> number_column(const std::vector<double>& values, double unit) {
  std::vector<double> scaled;
  for (const double value : values) scaled.push_back(value / unit);
  const int decimals = decimals_for(scaled);
  std::vector<std::string> column;
  for (const double value : scaled) column.push_back(format_number(value, decimals));
  return column;
}

std::string percent(double part, double whole) { return format_number(whole > 0 ? 100 * part / whole : 0, 1) + " %"; }

TimeUnit time_unit(double longest) { return longest < 1e-3 ? TimeUnit{"us", 1e-6} : TimeUnit{"ms", 1e-3}; }

std::string heading(const std::string& name, const std::string& what) { return "\n" + bold(name) + "  " + what + "\n"; }

std::string text_of(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += line + "\n";
  return text;
}

std::string and_more(std::size_t all, std::size_t shown, const std::string& rest) {
  return all > shown ? "and " + format_count(static_cast<long long>(all - shown)) + " more" + rest + "\n" : "";
}

}  // namespace hsap
