// cu_seqlens: a batch that is packed already, as the offsets of its documents on the token axis.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "planner/inputs/document_lengths.hpp"

namespace hsap {

/// Documents of the batch with these offsets. A repeated offset is an empty document (a placeholder of static-shape batches):
/// left out and reported. `padded` (cu_seqlens_padded, or nullptr): where the documents lie when each is padded; the padding is
/// left out and reported, it never takes part in attention. Throws InvalidInput naming index and value of the first entry that
/// is no offset: the first is 0 and none is below its predecessor.
LengthSource parse_cu_seqlens(const nlohmann::json& offsets, const nlohmann::json* padded, const std::string& source);

}  // namespace hsap
