// A packing for programs: the report, and the file that says which documents go where.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/plan/packing_run.hpp"

namespace hsap {

inline constexpr int kPackingFileVersion = 1;

/// What the text report says, for every mesh and all micro-batches. Times in seconds, of one layer, forward + backward.
nlohmann::ordered_json packing_report_json(const PackRun& run, const PackOptions& options);

/// The chosen packing: batches[].replicas[].micro_batches[], each with its documents (numbers in the input, GlobalBatches) and
/// their cu_seqlens. A micro-batch alone in a file is read by --lengths as a ready batch.
nlohmann::ordered_json packing_file_json(const PackRun& run, const PackOptions& options);

}  // namespace hsap
