#include "tools/plan/global_batches.hpp"

#include <algorithm>

#include "planner/ir/errors.hpp"
#include "planner/ir/units.hpp"
#include "tools/planning_inputs.hpp"
#include "tools/terminal.hpp"

namespace hsap {

namespace {

std::string count_text(std::size_t count) { return format_count(static_cast<long long>(count)); }

std::vector<Token> draw_documents(const LengthHistogram& histogram, Token tokens, std::size_t batches, std::uint64_t seed) {
  constexpr double kMostTokens = 1e11;  // beyond it memory, not usefulness, would end the run
  const double drawn = static_cast<double>(tokens) * (static_cast<double>(batches) + 1);  // one to close the last batch
  if (drawn > kMostTokens)
    throw InvalidInput("--tokens " + std::to_string(tokens) + ": " + count_text(batches) +
                       " global batches of that size from " + histogram.name +
                       " are more than 100 billion tokens; give smaller or fewer ones");
  return draw_lengths(histogram, tokens * static_cast<Token>(batches + 1), seed);
}

/// Pieces of `tokens` and a rest of documents that are longer; reported.
std::vector<Token> split_to(Token tokens, const std::vector<Token>& documents, std::vector<std::string>& remarks) {
  std::vector<Token> pieces;
  std::size_t split = 0;
  for (const Token document : documents) {
    split += document > tokens ? 1 : 0;
    for (Token rest = document; rest > 0; rest -= tokens) pieces.push_back(std::min(rest, tokens));
  }
  if (split > 0)
    remarks.push_back(count_text(split) + " of " + count_text(documents.size()) + " documents longer than a global batch of " +
                      format_count(tokens) + " tokens and split");
  return pieces;
}

GlobalBatches ready_batch(const LengthSource& source, const InputOptions& options, std::size_t batches) {
  GlobalBatches result;
  for (const Token length : source.lengths) result.tokens += length;
  const std::string what = source.name + " is one packed batch of " + format_count(result.tokens) + " tokens already";
  if (options.tokens && *options.tokens != result.tokens)
    throw InvalidInput("--tokens " + std::to_string(*options.tokens) + ": " + what + "; leave --tokens out");
  if (options.batch > 0) throw InvalidInput("--batch " + std::to_string(options.batch) + ": " + what + "; leave --batch out");
  if (batches > 1) throw InvalidInput("--batches " + std::to_string(batches) + ": " + what + "; leave --batches out");
  result.lengths = {source.lengths};
  result.first_document = {0};
  return result;
}

GlobalBatches batches_in_order(const LengthSource& source, const InputOptions& options, std::size_t batches) {
  GlobalBatches result;
  result.tokens = options.tokens.value_or(kDefaultTokens);
  result.first = options.batch;
  if (result.tokens < 1) throw InvalidInput("--tokens " + std::to_string(result.tokens) + ": expected at least 1");
  if (batches < 1) throw InvalidInput("--batches 0: expected at least 1");
  const std::size_t end = options.batch + batches;
  const std::vector<Token> documents = split_to(
      result.tokens, source.histogram ? draw_documents(*source.histogram, result.tokens, end, options.seed) : source.lengths,
      result.remarks);
  std::size_t batch = 0;
  Token tokens = 0;
  for (std::size_t document = 0; document < documents.size(); ++document) {
    if (tokens + documents[document] > result.tokens) {
      ++batch;
      tokens = 0;
    }
    if (batch == end) return result;
    tokens += documents[document];
    if (batch < options.batch) continue;
    if (result.lengths.size() == batch - options.batch) {
      result.lengths.emplace_back();
      result.first_document.push_back(document);
    }
    result.lengths.back().push_back(documents[document]);
  }
  if (result.lengths.size() < batches)
    throw InvalidInput("--batch " + std::to_string(options.batch) + " --batches " + std::to_string(batches) + ": " +
                       source.name + " fills " + count_text(batch + 1) + " global batches of " + format_count(result.tokens) +
                       " tokens, counted from 0");
  return result;
}

}  // namespace

std::string GlobalBatches::description(std::uint64_t seed) const {
  std::size_t documents = 0;
  Token used = 0, longest = 0;
  for (const std::vector<Token>& batch : lengths) {
    documents += batch.size();
    for (const Token length : batch) {
      used += length;
      longest = std::max(longest, length);
    }
  }
  const std::string which =
      lengths.size() == 1 ? "global batch " + std::to_string(first)
                          : "global batches " + std::to_string(first) + " to " + std::to_string(first + lengths.size() - 1);
  std::string text =
      labelled("batches", 9,
               source + ", seed " + std::to_string(seed) + ": " + which + " of " + format_count(tokens) + " tokens, " +
                   format_count(used) + " used by " + count_text(documents) + (documents == 1 ? " document" : " documents") +
                   " in their order, longest " + format_count(longest)) +
      "\n";
  for (const std::string& remark : remarks) text += labelled("note", 9, remark) + "\n";
  return text;
}

GlobalBatches read_global_batches(const InputOptions& options, std::size_t batches) {
  const LengthSource source = read_lengths(options.lengths, options.column);
  GlobalBatches result =
      source.fixed_batch ? ready_batch(source, options, batches) : batches_in_order(source, options, batches);
  result.source = source.name;
  result.remarks.insert(result.remarks.begin(), source.remarks.begin(), source.remarks.end());
  return result;
}

}  // namespace hsap
