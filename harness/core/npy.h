#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"

namespace aotifuzz {

/// An array of NumPy's .npy format, versions 1 to 3, taken to this machine's byte order.
struct NpyArray {
  /// kUnknown for bytes without a type ("|V2"): what NumPy has no name for, bf16 and the float8 types.
  Dtype dtype = Dtype::kUnknown;
  int64_t width = 0;  ///< bytes of an element, 1 to 16
  std::vector<int64_t> sizes;
  bool column_major = false;   ///< in the file; `bytes` are in row-major order all the same
  std::vector<uint8_t> bytes;  ///< elements, dense
};

/// Never throws; refuses what is cut off or too long, has another type of elements (objects, text, records, longdouble)
/// or more than 64 dimensions.
Result<NpyArray> parse_npy(std::string_view file);

/// The same as a file, row-major. A dtype that NumPy has no name for is written as bytes without a type.
std::string print_npy(Dtype dtype, const std::vector<int64_t>& sizes, const std::vector<uint8_t>& bytes);

/// "<f4", "|b1"; "|V2" where NumPy has no name for it.
std::string numpy_descr(Dtype dtype);

}  // namespace aotifuzz
