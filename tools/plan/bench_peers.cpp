#include "tools/plan/bench_peers.hpp"

#include <algorithm>
#include <charconv>

#include "planner/inputs/input_text.hpp"
#include "planner/inputs/lengths/csv_reader.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

using Record = std::vector<std::string>;

/// Hands out fields by the name of their column.
class PeerTable {
 public:
  PeerTable(const std::string& text, const std::string& source) : source_(source), reader_(text, source, 1) {
    require_text(text, source);
    reader_.next(header_);
  }
  bool next() {
    if (!reader_.next(record_)) return false;
    if (record_.size() != header_.size())
      throw InvalidInput(source_, reader_.line(),
                         "found " + std::to_string(record_.size()) + " fields, expected " + std::to_string(header_.size()) +
                             " as in the first line");
    return true;
  }
  const std::string& text(const std::string& column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) throw InvalidInput(source_, 1, "has no column \"" + column + "\"; found " + listed(header_));
    return record_[static_cast<std::size_t>(found - header_.begin())];
  }
  std::optional<double> number(const std::string& column) const {
    const std::string& field = text(column);
    if (field.empty()) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !(value >= 0))
      throw InvalidInput(source_, reader_.line(),
                         "column " + column + ": found " + shown(field) + ", expected a number from 0 on, or nothing");
    return value;
  }
  double required(const std::string& column) const {
    const std::optional<double> value = number(column);
    if (!value) throw InvalidInput(source_, reader_.line(), "column " + column + " is empty, expected a number");
    return *value;
  }

 private:
  const std::string& source_;
  CsvReader reader_;
  Record header_;
  Record record_;
};

/// Whether what must enter nodes was counted. Where it was not the table has 0 keys into nodes, though ranks receive some from
/// other nodes, and a time with hierarchical exchange in which these cost nothing.
bool knows_node_needs(const PeerTable& table) {
  return table.number("node_in_total").value_or(0) > 0 || table.number("inter_total").value_or(0) == 0;
}

std::optional<double> ratio(const std::optional<double>& value, const std::optional<double>& base) {
  if (!value || !base || *base <= 0) return std::nullopt;
  return *value / *base;
}

}  // namespace

std::optional<double> PeerResult::over_bound() const {
  if (direct_over_bound && hierarchical_over_bound) return std::min(*direct_over_bound, *hierarchical_over_bound);
  return direct_over_bound ? direct_over_bound : hierarchical_over_bound;
}

std::vector<PeerResult> read_peers(const std::filesystem::path& file) {
  const std::string source = file.string();
  const std::string text = read_input_text(file);
  PeerTable table(text, source);
  std::vector<PeerResult> results;
  while (table.next()) {
    PeerResult result;
    result.peer = table.text("peer");
    result.instance = table.text("id");
    result.ranks = static_cast<int>(std::min(table.required("P"), 1e9));
    if (const std::optional<double> milliseconds = table.number("plan_ms")) result.planning_seconds = *milliseconds / 1e3;
    const std::optional<double> bound = table.number("lb_layer_ms");
    result.direct_over_bound = ratio(table.number("t_layer_ms"), bound);
    if (knows_node_needs(table)) result.hierarchical_over_bound = ratio(table.number("t_layerh_ms"), bound);
    results.push_back(result);
  }
  return results;
}

bool is_own_prototype(const std::string& peer) { return peer.starts_with("hcc_"); }

}  // namespace hsap
