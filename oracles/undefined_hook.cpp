#include "oracles/undefined_hook.h"

#include <ATen/ATen.h>

#include <limits>
#include <string>
#include <vector>

#include "oracles/legal_noise.h"
#include "oracles/op_traits.h"
#include "oracles/scalar_types.h"
#include "oracles/term_count.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

bool is_integer_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         at::isIntegralType(value.toTensor().scalar_type(), /*includeBool=*/false);
}

int64_t wrap(int64_t dim, int64_t rank) { return dim < 0 ? dim + rank : dim; }

/// NaN, infinite, or beyond the range of `type` after truncation.
at::Tensor cast_is_undefined(const at::Tensor& source, c10::ScalarType type) {
  const IntegralRange range = dtype_integral_range(dtype_of(type));
  const at::Tensor whole = source.trunc();
  // 2^63 is not a double below INT64_MAX + 1, so the upper end is compared as "at least max + 1".
  const double past = type == at::kLong ? 0x1p63 : static_cast<double>(range.max) + 1;
  return ((whole >= static_cast<double>(range.min)) & (whole < past)).logical_not();
}

}  // namespace

void UndefinedHook::adjust_arguments(const Call& call, torch::jit::Stack& arguments) {
  undefined_ = at::Tensor();
  overflows_ = false;
  reordered_ = Reordered{};
  reorder_ties(call, arguments);
  reorder_writes(call, arguments);
  find_undefined(call, arguments);
  find_overflow(call, arguments);
}

void UndefinedHook::find_overflow(const Call& call, const torch::jit::Stack& arguments) {
  if (call.row->cls != RoundingClass::kContraction || call.row->growth == Growth::kNone) return;
  std::vector<at::Tensor> operands;
  for (c10::IValue value : arguments)
    change_tensors(value, [&](const at::Tensor& tensor, size_t) {
      if (tensor.scalar_type() == at::kDouble || tensor.scalar_type() == at::kComplexDouble) operands.push_back(tensor);
      return tensor;
    });
  const int64_t terms = count_terms(call.row->length, *call.schema, arguments);
  overflows_ = sums_may_overflow(operands, call.result_dtype(0), terms, squares_inputs(call.op->target) ? 2 : 1);
}

void UndefinedHook::reorder_ties(const Call& call, torch::jit::Stack& arguments) {
  const std::optional<ArgReduction> info = arg_reduction(call.op->target);
  if (!info || !arguments[0].isTensor()) return;
  const std::string_view base = op_base(call.op->target);
  if (base == "aten.cummax" || base == "aten.cummin") return;  // their order is the input's
  const int stable = call.argument_index("stable");
  if (stable >= 0 ? arguments[stable].isBool() && arguments[stable].toBool() : info->stable) return;
  const at::Tensor input = arguments[0].toTensor();
  if (input.dim() == 0 || input.numel() == 0) return;
  const int dim_index = call.argument_index("dim");
  const bool whole = info->whole_if_no_dim && (dim_index < 0 || !arguments[dim_index].isInt());
  const int64_t dim =
      whole ? 0
            : wrap(dim_index >= 0 && arguments[dim_index].isInt() ? arguments[dim_index].toInt() : info->default_dim,
                   input.dim());
  if (dim < 0 || dim >= input.dim()) return;  // the op itself will say so
  reordered_.result = info->index_result;
  reordered_.size = whole ? input.numel() : input.size(dim);
  reordered_.shift = flip_ ? -1 : static_cast<int64_t>(noise_.below(static_cast<uint64_t>(reordered_.size)));
  const at::Tensor line = whole ? input.reshape({-1}) : input;
  const at::Tensor moved = flip_ ? line.flip({dim}) : line.roll({reordered_.shift}, {dim});
  arguments[0] = whole ? moved.view(input.sizes()) : moved;
}

void UndefinedHook::restore_positions(torch::jit::Stack& results) {
  if (reordered_.result < 0 || static_cast<size_t>(reordered_.result) >= results.size()) return;
  const at::Tensor positions = results[reordered_.result].toTensor();
  if (reordered_.shift < 0) {
    results[reordered_.result] = reordered_.size - 1 - positions;
  } else {
    results[reordered_.result] = (positions - reordered_.shift).remainder(reordered_.size);
  }
}

void UndefinedHook::reorder_writes(const Call& call, torch::jit::Stack& arguments) {
  const std::string_view base = op_base(call.op->target);
  const int source = call.argument_index(base == "aten.index_copy" ? "source" : "src");
  const int index = call.argument_index("index");
  const int dim = call.argument_index("dim");
  if ((base == "aten.scatter" || base == "aten.index_copy") && source >= 0 && index >= 0 && dim >= 0) {
    const at::Tensor positions = arguments[index].toTensor();
    at::Tensor values = arguments[source].toTensor();
    if (positions.dim() == 0 || values.dim() == 0) return;
    const int64_t along = wrap(arguments[dim].toInt(), values.dim());
    if (base == "aten.scatter") {
      if (positions.dim() != values.dim()) return;
      for (int64_t d = 0; d < values.dim(); ++d) {
        if (positions.size(d) > values.size(d)) return;
        values = values.narrow(d, 0, positions.size(d));
      }
    }
    const int64_t index_dim = base == "aten.scatter" ? along : 0;
    const int64_t shift = flip_ ? 0 : static_cast<int64_t>(noise_.below(positions.size(index_dim) + 1));
    arguments[index] = flip_ ? positions.flip({index_dim}) : positions.roll({shift}, {index_dim});
    arguments[source] = flip_ ? values.flip({along}) : values.roll({shift}, {along});
    return;
  }
  if (base != "aten.index_put" && base != "aten._index_put_impl") return;
  const int accumulate = call.argument_index("accumulate");
  if (accumulate >= 0 && arguments[accumulate].isBool() && arguments[accumulate].toBool()) return;
  std::vector<at::Tensor> indices;
  bool ended = false;
  for (const std::optional<at::Tensor>& item : arguments[1].toOptionalTensorVector()) {
    if (!item || !item->defined()) {
      ended = true;
      continue;
    }
    // Behind a full dimension the indexed ones move about, and masks never collide.
    if (ended || !at::isIntegralType(item->scalar_type(), false)) return;
    indices.push_back(*item);
  }
  if (indices.empty()) return;
  indices = at::broadcast_tensors(indices);
  const at::Tensor self = arguments[0].toTensor();
  std::vector<int64_t> shape = indices[0].sizes().vec();
  if (shape.empty() || indices[0].numel() == 0) return;
  const int64_t lead = indices[0].dim();
  for (int64_t d = static_cast<int64_t>(indices.size()); d < self.dim(); ++d) shape.push_back(self.size(d));
  std::vector<int64_t> dims(lead), shifts(lead);
  for (int64_t d = 0; d < lead; ++d) {
    dims[d] = d;
    shifts[d] = static_cast<int64_t>(noise_.below(indices[0].size(d) + 1));
  }
  const auto move = [&](const at::Tensor& tensor) { return flip_ ? tensor.flip(dims) : tensor.roll(shifts, dims); };
  c10::List<std::optional<at::Tensor>> moved;
  for (const at::Tensor& tensor : indices) moved.push_back(move(tensor));
  arguments[1] = moved;
  arguments[2] = move(arguments[2].toTensor().expand(shape));
}

void UndefinedHook::find_undefined(const Call& call, const torch::jit::Stack& arguments) {
  const std::string_view base = op_base(call.op->target);
  if (arguments.empty() || !arguments[0].isTensor() || !arguments[0].toTensor().defined()) return;
  const at::Tensor self = arguments[0].toTensor();
  if (base == "aten.to" || base == "aten._to_copy" || base == "aten.type_as" || base == "prims.convert_element_type") {
    const Dtype target = call.result_dtype(0);
    if (dtype_is_integral(target) && self.is_floating_point())
      undefined_ = cast_is_undefined(self, scalar_type_of(target));
    return;
  }
  if (base == "aten.copy" && is_integer_tensor(arguments[0]) && arguments[1].toTensor().is_floating_point()) {
    undefined_ = cast_is_undefined(arguments[1].toTensor(), self.scalar_type()).expand_as(self);
    return;
  }
  if (!is_integer_tensor(arguments[0]) || arguments.size() < 2) return;
  at::Tensor other;
  if (is_integer_tensor(arguments[1])) {
    other = arguments[1].toTensor();
  } else if (arguments[1].isInt()) {
    other = at::scalar_tensor(arguments[1].toInt(), at::kLong);
  } else {
    return;
  }
  if (base == "aten.div" || base == "aten.floor_divide" || base == "aten.remainder" || base == "aten.fmod") {
    const int64_t least = dtype_integral_range(dtype_of(self.scalar_type())).min;
    undefined_ = other.eq(0) | (self.eq(least) & other.eq(-1));
    if (least == 0) undefined_ = other.eq(0).expand_as(self + other);
  } else if (base.find("shift") != base.npos) {
    undefined_ = (other.lt(0) | other.ge(static_cast<int64_t>(self.element_size() * 8))).expand_as(self + other);
  }
}

at::Tensor UndefinedHook::drawn(const at::Tensor& values, const at::Tensor& where) {
  at::Tensor result = values.clone();
  if (!at::isIntegralType(values.scalar_type(), /*includeBool=*/false)) {
    at::Tensor flat = at::empty({values.numel()}, at::kDouble);
    double* out = flat.data_ptr<double>();
    for (int64_t i = 0; i < flat.numel(); ++i) out[i] = noise_.signed_unit() * 1000;
    if (draws_nan_ && values.scalar_type() != at::kBool) flat.fill_(std::numeric_limits<double>::quiet_NaN());
    const at::Tensor numbers = flat.view(values.sizes());
    // Truth values: about half of them.
    result.copy_(at::where(where, values.scalar_type() == at::kBool ? numbers.gt(0).to(at::kDouble) : numbers,
                           values.is_complex() ? at::real(values) : values.to(at::kDouble)));
    return result;
  }
  // Whatever compilers and processors do: saturate, wrap, give 0, -1 or the least value; and anything between.
  const IntegralRange range = dtype_integral_range(dtype_of(values.scalar_type()));
  // Never the value that is there: what stays as it was would look defined.
  at::Tensor flat = values.to(at::kLong).contiguous().clone().view({-1});
  int64_t* out = flat.data_ptr<int64_t>();
  const uint64_t span = static_cast<uint64_t>(range.max) - static_cast<uint64_t>(range.min);
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int64_t before = out[i];
    do {
      switch (noise_.below(6)) {
        case 0:
          out[i] = 0;
          break;
        case 1:
          out[i] = range.min;
          break;
        case 2:
          out[i] = range.max;
          break;
        case 3:
          out[i] = range.min == 0 ? range.max - 1 : -1;
          break;
        default: {
          const uint64_t offset = span == ~uint64_t{0} ? noise_.next() : noise_.next() % (span + 1);
          out[i] = static_cast<int64_t>(static_cast<uint64_t>(range.min) + offset);
        }
      }
    } while (out[i] == before);
  }
  result.copy_(at::where(where, flat.view(values.sizes()).to(values.scalar_type()), values));
  return result;
}

void UndefinedHook::adjust_results(const Call& call, torch::jit::Stack& results) {
  restore_positions(results);
  if (is_uninitialized_op(call.op->target) && !results.empty() && results[0].isTensor()) {
    const at::Tensor fresh = results[0].toTensor();
    fresh.copy_(drawn(at::zeros_like(fresh), at::ones(fresh.sizes(), at::kBool)));
    return;
  }
  if (overflows_) {
    for (c10::IValue& value : results)
      change_tensors(value, [&](const at::Tensor& exact, size_t) {
        const at::Tensor changed = drawn(exact, at::ones(exact.sizes(), at::kBool));
        if (!call.op->mutates) return changed;
        exact.copy_(changed);
        return exact;
      });
    return;
  }
  if (!undefined_.defined() || results.empty() || !results[0].isTensor()) return;
  const at::Tensor exact = results[0].toTensor();
  if (undefined_.dim() > exact.dim() || !undefined_.any().item<bool>()) return;
  const at::Tensor changed = drawn(exact, undefined_.expand_as(exact));
  if (call.op->mutates) {
    exact.copy_(changed);
  } else {
    results[0] = changed;
  }
}

}  // namespace aotifuzz
