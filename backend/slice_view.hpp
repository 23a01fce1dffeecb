// Where the elements of a slice lie in memory, and which key rows a query row may see: all that a kernel needs to know.
// Plain data without inline functions, because the kernels of backend/cpu are compiled several times for different processors.
#pragma once

#include <cstddef>

namespace hsap {

using Index = std::ptrdiff_t;  ///< rows, heads or elements in memory

/// fp32 elements [row_count, heads, width]: element (row, head, x) is data[rows[row] * row_stride + head * width + x].
struct SliceView {
  float* data = nullptr;        ///< first head of the slice in row 0 of the buffer
  const Index* rows = nullptr;  ///< [row_count] row of the buffer that holds each row of the slice, ascending
  Index row_count = 0;
  Index row_stride = 0;  ///< elements from one row of the buffer to the next
  Index heads = 0;
  Index width = 0;
};

/// Rows begin .. end-1.
struct RowInterval {
  Index begin = 0;
  Index end = 0;
};

/// Which key/value head serves which query head (GQA). Query head i of a slice is head first_query + i of the layer and reads
/// head (first_query + i) / queries_per_kv - first_kv of the key/value slice.
struct HeadGroups {
  Index first_query = 0;
  Index first_kv = 0;
  Index queries_per_kv = 1;
};

}  // namespace hsap
