#include "oracles/host_values.h"

#include <ATen/ATen.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "oracles/scalar_types.h"

namespace aotifuzz {

HostValues::HostValues(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  defined_ = true;
  const bool plain = tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_complex() && tensor.has_storage() &&
                     !tensor._is_zerotensor() && !tensor.is_neg();
  if (plain) {
    held_ = tensor;
  } else {
    at::Tensor host = tensor._is_zerotensor() ? at::zeros(tensor.sizes(), tensor.options()) : tensor.cpu();
    if (host.is_complex()) host = at::view_as_real(host.resolve_conj());
    held_ = host.resolve_neg().contiguous();
  }
  dtype_ = dtype_of(held_.scalar_type());
  floating_ = dtype_is_floating(dtype_);
  size_ = held_.numel();
  bytes_ = size_ * static_cast<int64_t>(held_.element_size());
  data_ = size_ ? held_.const_data_ptr() : nullptr;
}

namespace {

template <class T>
T at_index(const void* data, int64_t i) {
  return static_cast<const T*>(data)[i];
}

}  // namespace

double HostValues::real(int64_t i) const {
  switch (dtype_) {
    case Dtype::kF32:
      return at_index<float>(data_, i);
    case Dtype::kF64:
      return at_index<double>(data_, i);
    case Dtype::kF16:
      return static_cast<float>(at_index<c10::Half>(data_, i));
    case Dtype::kBF16:
      return static_cast<float>(at_index<c10::BFloat16>(data_, i));
    case Dtype::kF8E4M3FN:
      return static_cast<float>(at_index<c10::Float8_e4m3fn>(data_, i));
    case Dtype::kF8E5M2:
      return static_cast<float>(at_index<c10::Float8_e5m2>(data_, i));
    case Dtype::kF8E4M3FNUZ:
      return static_cast<float>(at_index<c10::Float8_e4m3fnuz>(data_, i));
    case Dtype::kF8E5M2FNUZ:
      return static_cast<float>(at_index<c10::Float8_e5m2fnuz>(data_, i));
    case Dtype::kF8E8M0FNU: {
      const uint8_t bits = at_index<uint8_t>(data_, i);
      return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
    }
    case Dtype::kU64:
      return static_cast<double>(at_index<uint64_t>(data_, i));
    default:
      return static_cast<double>(integer(i));
  }
}

int64_t HostValues::integer(int64_t i) const {
  switch (dtype_) {
    case Dtype::kU8:
      return at_index<uint8_t>(data_, i);
    case Dtype::kI8:
      return at_index<int8_t>(data_, i);
    case Dtype::kI16:
      return at_index<int16_t>(data_, i);
    case Dtype::kU16:
      return at_index<uint16_t>(data_, i);
    case Dtype::kI32:
      return at_index<int32_t>(data_, i);
    case Dtype::kU32:
      return at_index<uint32_t>(data_, i);
    case Dtype::kI64:
      return at_index<int64_t>(data_, i);
    case Dtype::kU64:
      return static_cast<int64_t>(at_index<uint64_t>(data_, i));
    // Not read as bool: a stray byte other than 0 and 1 is what a wrong kernel may leave.
    case Dtype::kBool:
      return at_index<uint8_t>(data_, i);
    default:
      return 0;
  }
}

bool HostValues::same(const HostValues& a, const HostValues& b, int64_t i) {
  if (!a.floating_) return a.integer(i) == b.integer(i);
  const double x = a.real(i), y = b.real(i);
  return x == y || (std::isnan(x) && std::isnan(y));
}

bool HostValues::same_value(const HostValues& values, int64_t i, int64_t k) {
  if (!values.floating_) return values.integer(i) == values.integer(k);
  const double x = values.real(i), y = values.real(k);
  return x == y || (std::isnan(x) && std::isnan(y));
}

std::string HostValues::text(int64_t i) const {
  if (floating_) return number_text(real(i));
  if (dtype_ == Dtype::kBool) {
    const int64_t byte = integer(i);
    return byte == 0 ? "false" : byte == 1 ? "true" : "bool with byte " + std::to_string(byte);
  }
  if (dtype_ == Dtype::kU64) return std::to_string(static_cast<uint64_t>(integer(i)));
  return std::to_string(integer(i));
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  // torch's own headers carry another fmt than the system's library: to_chars needs neither.
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return error == std::errc() ? std::string(buffer, end) : "?";
}

std::string index_text(int64_t linear, at::IntArrayRef sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = sizes[d] ? linear % sizes[d] : 0;
    linear = sizes[d] ? linear / sizes[d] : 0;
  }
  std::string out = "[";
  for (size_t d = 0; d < index.size(); ++d) out += (d ? ", " : "") + std::to_string(index[d]);
  return out + "]";
}

}  // namespace aotifuzz
