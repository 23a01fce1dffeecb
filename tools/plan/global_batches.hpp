// The documents of global batches as a data loader hands them out: in the order of the input, none moved to another batch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/ir/ids.hpp"
#include "tools/input_options.hpp"

namespace hsap {

struct GlobalBatches {
  std::string source;                       ///< name of the file or distribution
  Token tokens = 0;                         ///< most of a batch
  std::size_t first = 0;                    ///< number of the first batch here, counted from 0
  std::vector<std::vector<Token>> lengths;  ///< [batch][document]
  /// [batch] number of its first document among all of the input, empty ones not counted, pieces of split ones counted apart.
  std::vector<std::size_t> first_document;
  std::vector<std::string> remarks;

  /// The line "batches  ..." of a report.
  std::string description(std::uint64_t seed) const;
};

/// Batches options.batch, options.batch + 1, ... of the input: documents in order until the next one would make more than
/// --tokens. A longer document is cut into pieces of --tokens and a rest, which is reported. A ready batch (cu_seqlens) is one
/// global batch. Throws InvalidInput when there are not that many.
GlobalBatches read_global_batches(const InputOptions& options, std::size_t batches);

}  // namespace hsap
