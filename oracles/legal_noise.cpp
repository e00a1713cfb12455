#include "oracles/legal_noise.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "oracles/float_format.h"

namespace aotifuzz {
namespace {

/// No operand moves by more than this share of itself: past it "any order of arithmetic" says nothing.
constexpr double kOperandNoiseMax = 0.25;

/// Elements of a dense real or complex float64 tensor, complex ones as pairs.
std::span<double> dense_values(const at::Tensor& dense) {
  const int64_t parts = dense.is_complex() ? 2 : 1;
  return {static_cast<double*>(dense.data_ptr()), static_cast<size_t>(dense.numel() * parts)};
}

bool is_wide(const FloatFormat& format) { return format.precision >= 24; }

/// Precision in which one op computes: 8- and 16-bit types compute in float32 on both sides.
double compute_unit(const FloatFormat& format) { return std::min(format.unit(), 0x1p-24); }

/// A float64 result cannot show whether it was rounded. One whose last 12 bits are zero very likely was not.
bool looks_exact_in_float64(double x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return (bits & 0xfff) == 0;
}

class ElementRounder {
 public:
  ElementRounder(Dtype dtype, const RoundingRow& row, RoundingStyle style, NoiseStream& noise)
      : stored_(float_format(dtype)), row_(row), style_(style), noise_(noise) {
    const bool keep = style == RoundingStyle::kKeepFloat32 || style == RoundingStyle::kRandomFloat32;
    if (keep && !is_wide(stored_)) stored_ = float_format(Dtype::kF32);
    unit_ = compute_unit(float_format(dtype));
  }

  /// `magnitude`: |x|, or the modulus for a part of a complex number; `absolute`: the row's absolute scale here.
  double operator()(double x, double magnitude, double absolute) {
    if (!std::isfinite(x)) return x;
    if (style_ == RoundingStyle::kNearest || style_ == RoundingStyle::kKeepFloat32) return round_nearest(x, stored_);
    if (is_exact(x)) return round_nearest(x, stored_);
    const double further =
        std::max(row_.units - 1, 0.0) * magnitude + (std::isfinite(absolute) ? row_.units * absolute : 0);
    double moved = x + unit_ * further * noise_.signed_unit();
    if (stored_.precision >= 53) return moved + moved * 0x1p-52 * noise_.signed_unit();
    return noise_.next() & 1 ? round_up(moved, stored_) : round_down(moved, stored_);
  }

 private:
  bool is_exact(double x) const {
    switch (row_.cls) {
      case RoundingClass::kTranscendental:
        return x == 0 ? row_.absolute == AbsoluteScale::kNone : x == 1 || x == -1;
      case RoundingClass::kContraction:
        // Whether a sum rounded on the way is decided by its operands (sums_are_exact); here only the last rounding.
        if (row_.absolute != AbsoluteScale::kNone) return false;
        [[fallthrough]];
      default:
        return stored_.precision >= 53 ? looks_exact_in_float64(x) : round_nearest(x, stored_) == x;
    }
  }

  FloatFormat stored_;
  const RoundingRow& row_;
  RoundingStyle style_;
  NoiseStream& noise_;
  double unit_ = 0;
};

}  // namespace

at::Tensor noisy_result(const at::Tensor& exact, Dtype dtype, const RoundingRow& row, RoundingStyle style,
                        const at::Tensor& scale, NoiseStream& noise) {
  if (float_format(dtype).precision == 0 || exact.numel() == 0) return {};
  if (exact.scalar_type() != at::kDouble && exact.scalar_type() != at::kComplexDouble) return {};
  // Dense whatever the strides of `exact` are, lazy conjugation done.
  at::Tensor result = exact.resolve_conj().resolve_neg().clone();
  at::Tensor scales;
  if (scale.defined())
    scales = at::empty_like(result, result.options().dtype(at::kDouble)).copy_(scale.expand_as(result));
  ElementRounder round(dtype, row, style, noise);
  const std::span<double> values = dense_values(result);
  const double* absolute = scales.defined() ? scales.const_data_ptr<double>() : nullptr;
  bool moved = false;
  if (result.is_complex()) {
    for (size_t i = 0; i < values.size(); i += 2) {
      const double modulus = std::hypot(values[i], values[i + 1]);
      // A product's parts cancel: their error is that of the modulus.
      const double slack = modulus + (absolute ? absolute[i / 2] : 0);
      for (size_t part = i; part < i + 2; ++part) {
        const double before = values[part];
        values[part] = round(before, modulus, slack);
        moved |= values[part] != before;
      }
    }
  } else {
    for (size_t i = 0; i < values.size(); ++i) {
      const double before = values[i];
      values[i] = round(before, std::abs(before), absolute ? absolute[i] : 0);
      moved |= values[i] != before;
    }
  }
  return moved ? result : at::Tensor();
}

at::Tensor noisy_operand(const at::Tensor& exact, Dtype dtype, const RoundingRow& row, int64_t terms,
                         NoiseStream& noise) {
  const FloatFormat format = float_format(dtype);
  if (format.precision == 0 || exact.numel() == 0) return exact;
  const double unit = accumulates_in_storage_dtype(row) ? format.unit() : compute_unit(format);
  const double each =
      std::min(unit * (2 + std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)))), kOperandNoiseMax);
  const double run = std::min(unit * growth_units(row.growth, terms), kOperandNoiseMax);
  at::Tensor result = exact.resolve_conj().resolve_neg().clone();
  const std::span<double> values = dense_values(result);
  // One length per operand and sample, any scale from single elements to everything.
  const size_t block = size_t{1} << noise.below(static_cast<uint64_t>(std::log2(values.size() + 1)) + 2);
  double together = noise.signed_unit();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % block == 0) together = noise.signed_unit();
    // As a factor, which is positive: an infinity (a mask in front of a softmax) stays what it is.
    values[i] *= 1 + (each * noise.signed_unit() + run * together);
  }
  return result;
}

bool sums_are_exact(const std::vector<at::Tensor>& operands, Dtype dtype, int64_t terms) {
  const int precision = std::max(float_format(dtype).precision, 24);
  double bound = static_cast<double>(std::max<int64_t>(terms, 1));
  for (const at::Tensor& operand : operands) {
    const at::Tensor dense = operand.resolve_conj().resolve_neg().contiguous();
    double largest = 1;
    for (double value : dense_values(dense)) {
      if (!(std::nearbyint(value) == value)) return false;
      largest = std::max(largest, std::abs(value));
    }
    bound *= largest;
    if (!(bound <= std::ldexp(1.0, precision))) return false;
  }
  return true;
}

bool sums_may_overflow(const std::vector<at::Tensor>& operands, Dtype dtype, int64_t terms, int power) {
  const FloatFormat format = float_format(dtype);
  double bound = static_cast<double>(std::max<int64_t>(terms, 1));
  for (const at::Tensor& operand : operands) {
    const at::Tensor dense = operand.resolve_conj().resolve_neg().contiguous();
    double largest = 1;
    for (double value : dense_values(dense))
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    bound *= std::pow(largest, power);
  }
  // 8- and 16-bit types add up in float32.
  return !(bound <= (is_wide(format) ? format.max : float_format(Dtype::kF32).max));
}

}  // namespace aotifuzz
