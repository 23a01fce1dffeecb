// Histograms of document lengths as tables: ours (shortest,longest,weight) and those that others publish, with one column of
// ranges such as "[101, 200]", "1–2K", "<1K" or ">32K" and one of counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/inputs/document_lengths.hpp"

namespace hsap {

/// Where a histogram's table keeps what: positions of its columns.
struct HistogramColumns {
  std::size_t range = 0;               ///< column of ranges, or of the shortest length
  std::optional<std::size_t> longest;  ///< set when shortest and longest have columns of their own
  std::size_t weight = 0;
};

/// The columns if the table is a histogram, else nullopt: it has shortest, longest and weight, or its first record holds a
/// range in a column called range, bucket, bin or interval. Weights are in the column `wanted`, else in the one called count,
/// number, weight, documents or frequency (counts, because published percentages are rounded). Throws InvalidInput when there
/// is no such column.
std::optional<HistogramColumns> histogram_columns(const std::vector<std::string>& header, const std::vector<std::string>& first,
                                                  const std::optional<std::string>& wanted, const std::string& source,
                                                  std::size_t line);

/// A length range as written. Without `longest` it is open.
struct LengthRange {
  Token shortest = 0;
  std::optional<Token> longest;
  bool thousand_suffix = false;  ///< K or M was used
};

/// Reads "[101, 200]", "101-200", "1–2K", "<1K" (up to 1023), ">32K" and "32K+". K is 1024 and M 1024 K. nullopt for anything
/// else.
std::optional<LengthRange> parse_length_range(std::string_view text);

/// "2,439" -> "2439"; text that is no number grouped by thousands comes back unchanged.
std::string without_thousands_separators(std::string_view text);

/// Collects the rows of a histogram's table.
class HistogramReader {
 public:
  HistogramReader(std::string source, HistogramColumns columns) : source_(std::move(source)), columns_(columns) {}

  /// Throws InvalidInput when the row holds no range or no weight.
  void add(const std::vector<std::string>& row, std::size_t line);

  /// The histogram. Rows without documents are left out. Throws InvalidInput when ranges overlap or descend, or when an open
  /// range has documents.
  LengthSource finish();

 private:
  struct Row {
    LengthRange range;
    double weight = 0;
    std::size_t line = 0;
  };
  void part_shared_bounds();

  std::string source_;
  HistogramColumns columns_;
  std::vector<Row> rows_;
  std::vector<std::string> remarks_;
};

}  // namespace hsap
