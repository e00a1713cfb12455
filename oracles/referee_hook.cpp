#include "oracles/referee_hook.h"

#include <ATen/ATen.h>

#include <string>

#include "oracles/float_format.h"
#include "oracles/op_schema.h"
#include "oracles/scalar_types.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

/// Kind of a schema type with its optional stripped: real_type() keeps ScalarType apart from int.
c10::TypePtr bare_type(const c10::Argument& argument) {
  c10::TypePtr type = argument.real_type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type;
}

bool is_wrapped_number(const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl()->is_wrapped_number(); }

bool is_cast(std::string_view target) {
  const std::string_view base = op_base(target);
  return base == "aten.to" || base == "aten._to_copy";
}

}  // namespace

void change_tensors(c10::IValue& value, const std::function<at::Tensor(const at::Tensor&, size_t item)>& change) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) value = change(value.toTensor(), 0);
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    size_t item = 0;
    for (const at::Tensor& tensor : value.toTensorVector())
      list.push_back(tensor.defined() ? change(tensor, item) : tensor), ++item;
    value = list;
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    size_t item = 0;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor && tensor->defined() ? std::optional<at::Tensor>(change(*tensor, item)) : tensor);
      ++item;
    }
    value = list;
  }
}

bool is_low_precision(Dtype dtype) {
  return (dtype_is_floating(dtype) && dtype != Dtype::kF64) || (dtype_is_complex(dtype) && dtype != Dtype::kC128);
}

Dtype RefereeHook::Call::result_dtype(size_t index) const {
  return dtypes && index < dtypes->results.size() && dtypes->results[index] != Dtype::kUnknown ? dtypes->results[index]
                                                                                               : Dtype::kF32;
}

Dtype RefereeHook::Call::argument_dtype(const std::string& name, size_t item) const {
  if (!dtypes) return Dtype::kF32;
  const auto found = dtypes->arguments.find(name);
  if (found == dtypes->arguments.end() || item >= found->second.size()) return Dtype::kF32;
  return found->second[item] == Dtype::kUnknown ? Dtype::kF32 : found->second[item];
}

int RefereeHook::Call::argument_index(std::string_view name) const {
  if (schema)
    for (size_t i = 0; i < schema->arguments().size(); ++i)
      if (schema->arguments()[i].name() == name) return static_cast<int>(i);
  return -1;
}

bool RefereeHook::Call::writes(size_t argument) const {
  const auto* alias = schema ? schema->arguments()[argument].alias_info() : nullptr;
  return alias && alias->isWrite();
}

double RefereeHook::scalar_value(const Call&, double value, Dtype) { return static_cast<float>(value); }

void RefereeHook::before(const OpInfo& op, torch::jit::Stack& arguments) {
  const at::NoGradGuard no_grad;
  call_ = Call{};
  write_back_.clear();
  call_.op = &op;
  call_.schema = find_op_schema(op.target);
  call_.row = &rounding_row(op.target);
  call_.native = call_.row->cls == RoundingClass::kNative;
  const auto found = facts_.dtypes.find(op.node);
  if (found != facts_.dtypes.end()) call_.dtypes = &found->second;
  if (!call_.schema || arguments.size() != call_.schema->arguments().size()) {
    call_.schema = nullptr;
    return;
  }
  if (call_.native) {
    narrow_for_native(arguments);
  } else {
    map_dtype_arguments(arguments);
    widen_integers(arguments);
    round_scalars(arguments);
  }
  adjust_arguments(call_, arguments);
}

void RefereeHook::map_dtype_arguments(torch::jit::Stack& arguments) {
  bool has_tensor = false;
  for (const c10::IValue& value : arguments) has_tensor |= value.isTensor() || value.isTensorList();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (bare_type(call_.schema->arguments()[i])->kind() != c10::TypeKind::ScalarTypeType) continue;
    if (arguments[i].isInt()) {
      arguments[i] = static_cast<int64_t>(referee_type(static_cast<c10::ScalarType>(arguments[i].toInt())));
    } else if (arguments[i].isNone() && !has_tensor && is_low_precision(call_.result_dtype(0))) {
      arguments[i] = static_cast<int64_t>(referee_type(scalar_type_of(call_.result_dtype(0))));
    }
  }
  // A cast between two types that are both float64 here must still copy: the program may write one of the two later.
  const int copy = call_.argument_index("copy");
  if (copy >= 0 && is_cast(call_.op->target) && call_.argument_dtype("self") != call_.result_dtype(0))
    arguments[copy] = true;
}

void RefereeHook::widen_integers(torch::jit::Stack& arguments) {
  if (call_.row->cls == RoundingClass::kExact || call_.op->mutates || !is_low_precision(call_.result_dtype(0))) return;
  if (is_cast(call_.op->target)) return;
  bool all_integers = true;
  bool any = false;
  for (c10::IValue& value : arguments)
    change_tensors(value, [&](const at::Tensor& tensor, size_t) {
      any = true;
      if (!is_wrapped_number(tensor) && (tensor.is_floating_point() || tensor.is_complex())) all_integers = false;
      return tensor;
    });
  if (!any || !all_integers) return;
  static const char* const kIndices[] = {"index", "indices", "offsets", "target"};
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool is_index = false;
    for (const char* name : kIndices) is_index |= call_.schema->arguments()[i].name() == name;
    if (!is_index)
      change_tensors(arguments[i], [](const at::Tensor& tensor, size_t) { return tensor.to(at::kDouble); });
  }
}

void RefereeHook::round_scalars(torch::jit::Stack& arguments) {
  // Comparisons make bool: the type that matters is the operands'.
  Dtype dtype = call_.result_dtype(0);
  if (!is_low_precision(dtype)) dtype = call_.argument_dtype("self");
  if (!is_low_precision(dtype)) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = arguments[i];
    if (value.isDouble() && bare_type(call_.schema->arguments()[i])->kind() == c10::TypeKind::NumberType) {
      value = scalar_value(call_, value.toDouble(), dtype);
    } else if (value.isTensor() && value.toTensor().defined() && is_wrapped_number(value.toTensor()) &&
               value.toTensor().scalar_type() == at::kDouble) {
      at::Tensor rounded =
          at::scalar_tensor(scalar_value(call_, value.toTensor().item<double>(), dtype), value.toTensor().options());
      rounded.unsafeGetTensorImpl()->set_wrapped_number(true);
      value = rounded;
    }
  }
}

void RefereeHook::narrow_for_native(torch::jit::Stack& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = call_.schema->arguments()[i].name();
    change_tensors(arguments[i], [&](const at::Tensor& tensor, size_t item) {
      const Dtype dtype = call_.argument_dtype(name, item);
      if (tensor.scalar_type() != referee_type(scalar_type_of(dtype)) || !is_low_precision(dtype)) return tensor;
      at::Tensor narrow = tensor.to(scalar_type_of(dtype));
      if (call_.writes(i)) write_back_.emplace_back(tensor, narrow);
      return narrow;
    });
  }
}

void RefereeHook::after(const OpInfo& op, torch::jit::Stack& results) {
  const at::NoGradGuard no_grad;
  for (auto& [wide, narrow] : write_back_) wide.copy_(narrow);
  for (c10::IValue& value : results)
    change_tensors(value, [&](const at::Tensor& tensor, size_t) {
      for (auto& [wide, narrow] : write_back_)
        if (tensor.is_same(narrow)) return wide;
      const c10::ScalarType type = referee_type(tensor.scalar_type());
      return type == tensor.scalar_type() ? tensor : tensor.to(type);
    });
  if (call_.schema) adjust_results(call_, results);
  call_ = Call{};
  write_back_.clear();
}

}  // namespace aotifuzz
