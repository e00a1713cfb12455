#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace aotifuzz {

/// A tensor's elements in row-major order on the host; complex numbers as pairs of reals. Contiguous host tensors are
/// viewed, others copied once. Reads go through raw pointers: no dispatcher in loops.
class HostValues {
 public:
  HostValues() = default;
  explicit HostValues(const at::Tensor& tensor);

  bool defined() const { return defined_; }
  Dtype dtype() const { return dtype_; }  ///< of the elements as read: a complex tensor's part type
  bool is_floating() const { return floating_; }
  int64_t size() const { return size_; }
  const void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

  double real(int64_t i) const;      ///< any type, converted
  int64_t integer(int64_t i) const;  ///< integral types and bool; uint64 wraps
  /// Same bits, or NaN on both sides, or zeros of either sign; of the same dtype.
  static bool same(const HostValues& a, const HostValues& b, int64_t i);
  /// Elements i and k of one tensor, by the same rule.
  static bool same_value(const HostValues& values, int64_t i, int64_t k);
  /// "3", "0.25", "nan", "true".
  std::string text(int64_t i) const;

 private:
  at::Tensor held_;
  const void* data_ = nullptr;
  int64_t size_ = 0;
  int64_t bytes_ = 0;
  Dtype dtype_ = Dtype::kUnknown;
  bool floating_ = false;
  bool defined_ = false;
};

/// "1.5", "1e-07", "nan": shortest text that reads back as the same double.
std::string number_text(double value);
/// "[0, 3]" for element `linear` (row-major) of `sizes`; "[]" for a 0-d tensor.
std::string index_text(int64_t linear, at::IntArrayRef sizes);

}  // namespace aotifuzz
