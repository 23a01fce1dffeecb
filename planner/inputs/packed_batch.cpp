#include "planner/inputs/packed_batch.hpp"

#include <algorithm>
#include <cstdio>

#include "planner/inputs/batch_rooms.hpp"
#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"

namespace hsap {

namespace {

std::string counted(std::size_t count, const std::string& noun) {
  const bool plural_es = noun.ends_with("ch");
  return format_count(static_cast<long long>(count)) + " " + noun + (count == 1 ? "" : plural_es ? "es" : "s");
}

void add_remarks(PackingReport& report, std::size_t empty, Token longest, Token tokens) {
  if (empty > 0) report.remarks.push_back(counted(empty, "empty document") + " ignored");
  if (report.split_documents > 0)
    report.remarks.push_back(format_count(static_cast<long long>(report.split_documents)) + " of " +
                             counted(report.documents, "document") + " longer than the batch of " + format_count(tokens) +
                             " tokens and split (longest " + format_count(longest) + ")");
  if (report.unused_tokens > 0) {
    const double all = static_cast<double>(report.batches) * static_cast<double>(tokens);
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.2f", 100 * static_cast<double>(report.unused_tokens) / all);
    report.remarks.push_back(format_count(report.unused_tokens) + " tokens (" + percent + " %) of " +
                             counted(report.batches, "batch") + " are unused");
  }
}

}  // namespace

Packing pack_first_fit(const std::vector<Token>& lengths, Token tokens) {
  constexpr Token kMostBatches = 20'000'000;  // beyond it memory, not usefulness, would end the run
  if (tokens < 1) throw InvalidInput("batch size: found " + std::to_string(tokens) + " tokens, expected at least 1");
  Packing result;
  PackingReport& report = result.report;
  BatchRooms rooms;
  Token longest = 0;
  Token packed = 0;

  const auto place = [&](Token length) {
    const std::size_t batch = rooms.first_with_room(length);
    if (batch == rooms.batches()) {
      rooms.open(tokens);
      result.batches.emplace_back();
    }
    rooms.take(batch, length);
    std::vector<Token>& offsets = result.batches[batch].offsets;
    offsets.push_back(offsets.back() + length);
  };

  std::size_t empty = 0;
  for (const Token length : lengths) {
    if (length < 0) throw InvalidInput("document lengths: found " + std::to_string(length) + ", expected at least 0");
    if (length == 0) {
      ++empty;
      continue;
    }
    ++report.documents;
    if (length > tokens) ++report.split_documents;
    longest = std::max(longest, length);
    packed += length;
    if (length / tokens + static_cast<Token>(rooms.batches()) > kMostBatches)
      throw InvalidInput("batch size: " + format_count(tokens) + " tokens would cut the documents into more than " +
                         format_count(kMostBatches) + " batches; give larger batches");
    for (Token rest = length; rest > 0; rest -= tokens) place(std::min(rest, tokens));
  }
  if (report.documents == 0) throw InvalidInput("document lengths: no document has tokens");
  report.batches = result.batches.size();
  report.unused_tokens = static_cast<Token>(report.batches) * tokens - packed;
  add_remarks(report, empty, longest, tokens);
  return result;
}

}  // namespace hsap
