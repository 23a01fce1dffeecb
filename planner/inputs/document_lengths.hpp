// Document lengths from files and distributions: one per line, JSON array, JSONL or CSV column, histogram, cu_seqlens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "planner/ir/ids.hpp"

namespace hsap {

/// A histogram of document lengths: length ranges (inclusive) with weights. Lengths are drawn uniformly inside a range.
struct LengthHistogram {
  struct Bucket {
    Token shortest = 1;
    Token longest = 1;
    double weight = 0;
  };
  std::string name;
  std::vector<Bucket> buckets;
};

/// Lengths as read, or a distribution to draw from.
struct LengthSource {
  std::string name;                          ///< file name or name of the built-in distribution
  std::vector<Token> lengths;                ///< in arrival order, empty documents removed; empty for a histogram
  std::optional<LengthHistogram> histogram;
  bool fixed_batch = false;                  ///< cu_seqlens: the documents are one batch already and are not packed again
  std::vector<std::string> remarks;          ///< "2 empty documents ignored", "6 padding tokens (0.85 %) left out", ...
};

struct LengthReadOptions {
  /// CSV or JSONL column; nullopt = the only numeric one, or an error that lists the columns.
  std::optional<std::string> column;
};

/// Reads lengths; the format is found from the content, not the file's name. Throws InvalidInput with file, line, found, expected
/// (a Git LFS pointer is recognised and answered with what to run).
LengthSource read_document_lengths(const std::filesystem::path& file, const LengthReadOptions& options = {});
/// The same from text; `source` names it in messages.
LengthSource parse_document_lengths(const std::string& text, const std::string& source, const LengthReadOptions& options = {});

/// Documents drawn from the histogram until their tokens reach `tokens`; same seed, same documents on every platform
/// (std::mt19937_64 and arithmetic of our own, no std distribution).
std::vector<Token> draw_lengths(const LengthHistogram& histogram, Token tokens, std::uint64_t seed);

}  // namespace hsap
