// Real length files: each reads with the figures known of it, or is refused in one line that says what to do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planner/inputs/document_lengths.hpp"
#include "planner/inputs/packed_batch.hpp"
#include "planner/ir/errors.hpp"

namespace hsap {
namespace {

using Catch::Matchers::Contains;

/// The folder of length files. Ends the process as skipped (CTest: SKIP_RETURN_CODE 77) when this machine does not have it.
std::filesystem::path corpus() {
  const std::filesystem::path folder = std::filesystem::path(HSAP_SHARED_DIR) / "corpus" / "lengths";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "skipped: " << folder << " is not on this machine\n";
    std::exit(77);
  }
  return folder;
}

/// What the quantile table of the corpus says of a list.
struct ListFacts {
  const char* file;
  const char* column;  ///< nullptr: the file has none
  std::size_t documents;
  Token tokens, shortest, longest;
};
constexpr ListFacts kLists[] = {
    {"flexsp-wikipedia.txt", nullptr, 1'000'000, 1'013'648'780, 1, 1'823'777},
    {"distca-dist_prolong.json", nullptr, 77'932, 237'840'913, 575, 340'149},
    {"vidur-arxiv-summarization-llama2.csv", "num_prefill_tokens", 28'257, 73'131'321, 1, 4'054},
    {"vidur-splitwise-code.csv", "num_prefill_tokens", 8'819, 18'059'974, 3, 7'437},
    {"azure-llm-2023-code.csv", "ContextTokens", 8'819, 18'059'974, 3, 7'437},
    {"azure-llm-2023-conv.csv", "ContextTokens", 19'366, 22'361'870, 2, 14'050},
    {"mooncake-synthetic.jsonl", "input_length", 3'993, 61'194'628, 13, 191'378},
};

struct HistogramFacts {
  const char* file;
  std::size_t buckets;
  double documents;
  Token longest;
};
constexpr HistogramFacts kHistograms[] = {
    {"magiattention-doc_length_distribution.csv", 14, 13'463'214, 196'608},
    {"gemma3-pt-wikipedia-cpt-histogram.md", 6, 11'167, 32'768},
    {"gemma3-pt-wikipedia-cpt-histogram-qwen3.md", 6, 11'167, 32'768},
};

struct Refusal {
  const char* file;
  const char* advice;
};
constexpr Refusal kRefused[] = {
    {"HOSTILE-burstgpt-git-lfs-pointer.csv", "this is a Git LFS pointer, not the file itself; run \"git lfs pull\""},
    {"QUANTILES.md", "expected a whole number per line, a JSON array, cu_seqlens, JSON lines, a histogram or a CSV table"},
    {"cu_seqlens-examples.json", "entry 0: holds cu_seqlens, which are one whole batch; expected a file with a single object"},
};

std::string refusal(const std::string& file) {
  try {
    read_document_lengths(corpus() / file);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("lengths corpus: every file is in one of the tables here") {
  std::set<std::string> expected;
  for (const ListFacts& facts : kLists) expected.insert(facts.file);
  for (const HistogramFacts& facts : kHistograms) expected.insert(facts.file);
  for (const Refusal& refused : kRefused) expected.insert(refused.file);
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(corpus())) found.insert(entry.path().filename());
  CHECK(found == expected);
}

TEST_CASE("lengths corpus: lists have the documents, tokens, shortest and longest of the quantile table") {
  for (const ListFacts& facts : kLists) {
    CAPTURE(facts.file);
    LengthReadOptions options;
    if (facts.column != nullptr) options.column = facts.column;
    const LengthSource source = read_document_lengths(corpus() / facts.file, options);
    CHECK(source.lengths.size() == facts.documents);
    CHECK(std::accumulate(source.lengths.begin(), source.lengths.end(), Token{0}) == facts.tokens);
    CHECK(*std::min_element(source.lengths.begin(), source.lengths.end()) == facts.shortest);
    CHECK(*std::max_element(source.lengths.begin(), source.lengths.end()) == facts.longest);
    CHECK(source.name == facts.file);
    CHECK_FALSE(source.fixed_batch);
  }
}

TEST_CASE("lengths corpus: a table with several columns of whole numbers is refused with their names until one is chosen") {
  for (const ListFacts& facts : kLists) {
    if (facts.column == nullptr) continue;
    CAPTURE(facts.file);
    CHECK_THAT(refusal(facts.file),
               Contains("several columns hold whole numbers; choose one with --column: ") && Contains(facts.column));
  }
}

TEST_CASE("lengths corpus: histograms keep every document, by counts and not by rounded percentages") {
  for (const HistogramFacts& facts : kHistograms) {
    CAPTURE(facts.file);
    const LengthSource source = read_document_lengths(corpus() / facts.file);
    REQUIRE(source.histogram);
    const auto& buckets = source.histogram->buckets;
    CHECK(buckets.size() == facts.buckets);
    CHECK(std::accumulate(buckets.begin(), buckets.end(), 0.0, [](double sum, const auto& b) { return sum + b.weight; }) ==
          facts.documents);
    CHECK(buckets.front().shortest == 1);
    CHECK(buckets.back().longest == facts.longest);
  }
}

TEST_CASE("lengths corpus: the files that hold no lengths are refused in one line with advice") {
  for (const Refusal& refused : kRefused) {
    const std::string message = refusal(refused.file);
    CAPTURE(message);
    CHECK_THAT(message, Contains(refused.file) && Contains(refused.advice));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("lengths corpus: each cu_seqlens example reads as the batch that its offsets describe") {
  std::ifstream file(corpus() / "cu_seqlens-examples.json");
  std::size_t examples = 0;
  for (const auto& example : nlohmann::json::parse(file)) {
    if (!example.contains("cu_seqlens")) continue;
    ++examples;
    const auto offsets = example.at("cu_seqlens").get<std::vector<Token>>();
    CAPTURE(offsets);
    for (const std::string& text : {example.at("cu_seqlens").dump(), example.dump()}) {
      const LengthSource source = parse_document_lengths(text, "example");
      CHECK(source.fixed_batch);
      std::vector<Token> read = {0};
      for (const Token length : source.lengths) read.push_back(read.back() + length);
      std::vector<Token> without_empty = offsets;
      without_empty.erase(std::unique(without_empty.begin(), without_empty.end()), without_empty.end());
      CHECK(read == without_empty);
    }
  }
  CHECK(examples == 8);
}

TEST_CASE("lengths corpus: wikipedia at 262,144 tokens splits the documents that are longer and loses no token") {
  const LengthSource source = read_document_lengths(corpus() / "flexsp-wikipedia.txt");
  const Packing packing = pack_first_fit(source.lengths, 262'144);
  const auto longer =
      std::count_if(source.lengths.begin(), source.lengths.end(), [](Token length) { return length > 262'144; });
  CHECK(longer > 0);
  CHECK(packing.report.split_documents == static_cast<std::size_t>(longer));
  Token packed = 0;
  for (const PackedBatch& batch : packing.batches) packed += batch.tokens();
  CHECK(packed == 1'013'648'780);
  CHECK(packing.report.unused_tokens == static_cast<Token>(packing.batches.size()) * 262'144 - packed);
}

}  // namespace
}  // namespace hsap
