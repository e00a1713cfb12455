#include "oracles/legal_sampler.h"

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "oracles/float_format.h"
#include "oracles/legal_noise.h"
#include "oracles/op_traits.h"
#include "oracles/referee_hook.h"
#include "oracles/term_count.h"
#include "oracles/undefined_hook.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

/// The plain float64 run: memory that nobody wrote is zero, so that the run is the same each time.
class PlainHook final : public RefereeHook {
 public:
  using RefereeHook::RefereeHook;

 protected:
  void adjust_results(const Call& call, torch::jit::Stack& results) override {
    if (is_uninitialized_op(call.op->target) && results.size() == 1 && results[0].isTensor())
      results[0].toTensor().zero_();
  }
};

class RoundingHook final : public RefereeHook {
 public:
  RoundingHook(const ProgramFacts& facts, uint64_t seed) : RefereeHook(facts), seed_(seed), noise_(seed) {}

 protected:
  void adjust_arguments(const Call& call, torch::jit::Stack& arguments) override;
  void adjust_results(const Call& call, torch::jit::Stack& results) override;
  double scalar_value(const Call& call, double value, Dtype dtype) override;

 private:
  bool is_random() const { return seed_ > kRoundKeepFloat32; }
  RoundingStyle pick_style();
  RoundingRow effective_row(const Call& call, const torch::jit::Stack& arguments) const;
  void move_operands(const Call& call, torch::jit::Stack& arguments);

  uint64_t seed_;
  NoiseStream noise_;
  RoundingRow row_{};  ///< of the op in flight, its arguments considered
  RoundingStyle style_ = RoundingStyle::kNearest;
  at::Tensor scale_;  ///< magnitudes for AbsoluteScale::kInput
};

RoundingStyle RoundingHook::pick_style() {
  if (seed_ == kRoundAsWritten) return RoundingStyle::kNearest;
  if (seed_ == kRoundKeepFloat32) return RoundingStyle::kKeepFloat32;
  // One style for all elements of an op: fusion decides per kernel, not per element. Mostly the wide ones.
  static constexpr RoundingStyle kStyles[] = {
      RoundingStyle::kRandom,        RoundingStyle::kRandom,        RoundingStyle::kRandom,
      RoundingStyle::kRandomFloat32, RoundingStyle::kRandomFloat32, RoundingStyle::kRandomFloat32,
      RoundingStyle::kNearest,       RoundingStyle::kKeepFloat32,
  };
  return kStyles[noise_.below(std::size(kStyles))];
}

double RoundingHook::scalar_value(const Call&, double value, Dtype dtype) {
  // Eager converts a scalar to the tensor's type in some kernels and to float32 in others.
  const bool narrow = is_random() && (noise_.next() & 1);
  return narrow ? round_nearest(value, float_format(dtype)) : static_cast<float>(value);
}

/// `alpha` makes sums of two rounded terms; writes without accumulation and casts to the same type do not round.
RoundingRow RoundingHook::effective_row(const Call& call, const torch::jit::Stack& arguments) const {
  RoundingRow row = *call.row;
  const std::string_view base = op_base(call.op->target);
  const auto exact = [&] { row.cls = RoundingClass::kExact; };
  if (base == "aten.add" || base == "aten.sub" || base == "aten.rsub") {
    const int alpha = call.argument_index("alpha");
    if (alpha >= 0 && arguments[alpha].isScalar() && !arguments[alpha].toScalar().equal(1))
      row.cls = RoundingClass::kContraction;
  } else if (base == "aten.index_put" || base == "aten._index_put_impl" || base == "aten.put") {
    const int accumulate = call.argument_index("accumulate");
    if (accumulate < 0 || !arguments[accumulate].isBool() || !arguments[accumulate].toBool()) exact();
  } else if (base == "aten.to" || base == "aten._to_copy" || base == "aten.type_as") {
    if (call.argument_dtype("self") == call.result_dtype(0)) exact();
  } else if (base == "aten.copy") {
    if (call.argument_dtype("src") == call.result_dtype(0)) exact();
  } else if (base == "aten.dropout" || base == "aten.feature_dropout" || base == "aten.alpha_dropout") {
    const int train = call.argument_index("train");
    if (train >= 0 && arguments[train].isBool() && !arguments[train].toBool()) exact();
  }
  return row;
}

void RoundingHook::adjust_arguments(const Call& call, torch::jit::Stack& arguments) {
  row_ = effective_row(call, arguments);
  style_ = pick_style();
  scale_ = at::Tensor();
  if (row_.cls == RoundingClass::kExact) return;
  if (row_.absolute == AbsoluteScale::kInput && !arguments.empty() && arguments[0].isTensor())
    scale_ = arguments[0].toTensor().abs();
  const bool moves = row_.cls == RoundingClass::kContraction || (row_.cls == RoundingClass::kNative && row_.units > 0);
  if (moves && is_random()) move_operands(call, arguments);
}

void RoundingHook::move_operands(const Call& call, torch::jit::Stack& arguments) {
  const int64_t terms = count_terms(row_.length, *call.schema, arguments);
  const Dtype result = call.result_dtype(0);
  const auto is_operand = [&](size_t i, const at::Tensor& tensor) {
    return !call.writes(i) && (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kComplexDouble);
  };
  // Plain sums and products of small integers are exact in any order; composite ops divide and take roots inside.
  if (row_.growth != Growth::kNone && row_.units <= 3 && !call.native) {
    std::vector<at::Tensor> operands;
    for (size_t i = 0; i < arguments.size(); ++i)
      change_tensors(arguments[i], [&](const at::Tensor& tensor, size_t) {
        if (is_operand(i, tensor)) operands.push_back(tensor);
        return tensor;
      });
    if (sums_are_exact(operands, result, terms)) return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = call.schema->arguments()[i].name();
    change_tensors(arguments[i], [&](const at::Tensor& tensor, size_t item) {
      if (!is_operand(i, tensor)) return tensor;
      Dtype dtype = call.argument_dtype(name, item);
      if (float_format(dtype).precision == 0) dtype = result;
      return noisy_operand(tensor, dtype, row_, terms, noise_);
    });
  }
}

void RoundingHook::adjust_results(const Call& call, torch::jit::Stack& results) {
  if (row_.cls == RoundingClass::kExact) {
    if (is_uninitialized_op(call.op->target) && results.size() == 1 && results[0].isTensor())
      results[0].toTensor().zero_();
    return;
  }
  size_t index = 0;
  for (c10::IValue& value : results)
    change_tensors(value, [&](const at::Tensor& exact, size_t) {
      const Dtype dtype = call.result_dtype(index++);
      at::Tensor scale;
      if (row_.absolute == AbsoluteScale::kOne) scale = at::ones({}, at::kDouble);
      if (row_.absolute == AbsoluteScale::kInput && scale_.defined() && scale_.sizes() == exact.sizes()) scale = scale_;
      if (row_.absolute == AbsoluteScale::kOutputMax && exact.numel() > 0 &&
          (exact.is_floating_point() || exact.is_complex()))
        scale = exact.abs().max();
      const at::Tensor noisy = noisy_result(exact, dtype, row_, style_, scale, noise_);
      if (!noisy.defined()) return exact;
      if (!call.op->mutates) return noisy;
      exact.copy_(noisy);
      return exact;
    });
}

}  // namespace

std::unique_ptr<NodeHook> make_f64_hook(const ProgramFacts& facts) { return std::make_unique<PlainHook>(facts); }

std::unique_ptr<NodeHook> make_sampled_hook(const ProgramFacts& facts, uint64_t seed) {
  if (seed & kUndefinedSeed) return std::make_unique<UndefinedHook>(facts, seed & ~kUndefinedSeed);
  return std::make_unique<RoundingHook>(facts, seed);
}

}  // namespace aotifuzz
