// How an explanation sets its sections: headings, lists of ranks and roles, columns of numbers.
#pragma once

#include <string>
#include <vector>

#include "planner/ir/schedule.hpp"
#include "tools/text_table.hpp"

namespace hsap {

/// {0, 1, 2, 5} -> "0-2, 5". Longer than `width`: as much of it as fits, then "...". @pre ascending
std::string rank_list(const std::vector<RankId>& ranks, std::size_t width = 20);
/// "k, v".
std::string role_list(const std::vector<Role>& roles);

/// Values in one unit (value / unit), all with the decimals that the smallest of them needs.
std::vector<std::string> number_column(const std::vector<double>& values, double unit);
/// "12.3 %"; "0 %" of nothing.
std::string percent(double part, double whole);

/// A blank line and the line that begins a section.
std::string heading(const std::string& name, const std::string& what);
/// The lines of `table`, each with its newline.
std::string text_of(const TextTable& table);
/// "and 12 more" when `shown` of `all` things were told, else nothing; with its newline.
std::string and_more(std::size_t all, std::size_t shown, const std::string& rest = "");

/// The unit in which a table tells times.
struct TimeUnit {
  std::string name;    ///< "us" or "ms"
  double seconds = 0;  ///< that it stands for
};
/// Of times up to `longest` seconds: ms from one on.
TimeUnit time_unit(double longest);

inline constexpr double kMebi = 1024.0 * 1024.0;

}  // namespace hsap
