#include "gate/argument_builder.h"

#include <ATen/ATen.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "gate/size_formula.h"
#include "gate/symbolic_tensor.h"
#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

using Kind = SpecValue::Kind;

DrawnLayout layout_of_rank(DrawnLayout layout, size_t rank) {
  if (rank == 0 || (layout == DrawnLayout::kTransposed && rank < 2)) return DrawnLayout::kContiguous;
  return layout;
}

/// Small numbers that float16 and int8 hold exactly; neither sorted nor all different.
constexpr int64_t kPatternStep = 7;
constexpr int64_t kPatternModulus = 11;

int64_t pattern(int64_t i, int seed) { return (i * kPatternStep + seed * 3) % kPatternModulus; }

std::vector<int64_t> integers_of(const SpecTensor& spec, int64_t count, int64_t limit, int seed) {
  std::vector<int64_t> out(count);
  switch (spec.values) {
    case SpecTensor::Values::kAny:
      for (int64_t i = 0; i < count; ++i) out[i] = pattern(i, seed);
      break;
    case SpecTensor::Values::kConst:
      std::fill(out.begin(), out.end(), static_cast<int64_t>(spec.constant));
      break;
    case SpecTensor::Values::kBelow:
      for (int64_t i = 0; i < count; ++i) out[i] = limit > 0 ? (i * kPatternStep + seed) % limit : 0;
      break;
    case SpecTensor::Values::kPermutation:
      for (int64_t i = 0; i < count; ++i) out[i] = count - 1 - i;
      break;
    case SpecTensor::Values::kOffsets:
      // From 0 to the limit in steps as even as they go, the last one being exact.
      for (int64_t i = 0; i < count; ++i) out[i] = count > 1 ? limit * i / (count - 1) : 0;
      break;
    case SpecTensor::Values::kLengths:
      for (int64_t i = 0; i < count; ++i) out[i] = limit * (i + 1) / count - limit * i / count;
      break;
  }
  return out;
}

void fill(at::Tensor tensor, const SpecTensor& spec, const std::vector<SpecSymbol>& symbols, const CallPoint& point) {
  const int64_t count = tensor.numel();
  if (count == 0) return;
  const std::vector<int64_t> integers =
      integers_of(spec, count, size_value(spec.limit, symbols, point.values), point.value_seed);
  const at::ScalarType dtype = tensor.scalar_type();
  if (at::isFloatingType(dtype) || at::isComplexType(dtype)) {
    std::vector<float> numbers(count);
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = spec.values == SpecTensor::Values::kConst ? static_cast<float>(spec.constant)
                                                             : static_cast<float>(integers[i]) * 0.25f - 0.5f;
    tensor.copy_(at::from_blob(numbers.data(), tensor.sizes(), at::kFloat));
    return;
  }
  // bool takes anything but zero for true.
  std::vector<int64_t> numbers = integers;
  if (dtype == at::kBool)
    for (int64_t& number : numbers) number &= 1;
  tensor.copy_(at::from_blob(numbers.data(), tensor.sizes(), at::kLong));
}

/// Of one kind, as a schema has lists.
c10::IValue literals(const std::vector<SpecValue>& items) {
  if (items[0].kind == Kind::kText) {
    c10::List<std::string> out;
    for (const SpecValue& item : items) out.push_back(item.text);
    return out;
  }
  if (items[0].kind == Kind::kBool) {
    c10::List<bool> out;
    for (const SpecValue& item : items) out.push_back(item.integer != 0);
    return out;
  }
  c10::List<double> out;
  for (const SpecValue& item : items) out.push_back(item.real);
  return out;
}

/// An empty list is of whatever its argument is a list of, and so are whole numbers.
c10::IValue plain_list(const c10::Type& element, const std::vector<int64_t>& numbers) {
  switch (element.kind()) {
    case c10::TypeKind::FloatType: {
      c10::List<double> out;
      for (const int64_t number : numbers) out.push_back(static_cast<double>(number));
      return out;
    }
    case c10::TypeKind::BoolType:
      return c10::List<bool>();
    case c10::TypeKind::StringType:
      return c10::List<std::string>();
    default:
      return c10::List<int64_t>(numbers);
  }
}

}  // namespace

const char* layout_name(DrawnLayout layout) {
  switch (layout) {
    case DrawnLayout::kContiguous:
      return "contiguous";
    case DrawnLayout::kTransposed:
      return "transposed";
    case DrawnLayout::kGaps:
      return "gaps";
  }
  return "";
}

at::Tensor ArgumentBuilder::symbolic_tensor(const SpecTensor& spec, DrawnLayout layout,
                                            const std::string& label) const {
  const size_t rank = spec.sizes.size();
  layout = layout_of_rank(layout, rank);
  std::vector<c10::SymInt> sizes, in_memory;
  for (const SpecSize& size : spec.sizes) sizes.push_back(size_expr_of(size, drawn_.symbols)->as_sym_int());
  in_memory = sizes;
  if (layout == DrawnLayout::kTransposed) std::swap(in_memory[rank - 1], in_memory[rank - 2]);
  if (layout == DrawnLayout::kGaps) in_memory[rank - 1] = in_memory[rank - 1] * 2;
  std::vector<c10::SymInt> strides = SymbolicTensor::dense_strides(in_memory);
  if (layout == DrawnLayout::kTransposed) std::swap(strides[rank - 1], strides[rank - 2]);
  if (layout == DrawnLayout::kGaps) strides[rank - 1] = 2;
  const c10::SymInt offset = layout == DrawnLayout::kGaps ? 1 : 0;
  return SymbolicTensor::make(std::move(sizes), std::move(strides), offset, to_scalar_type(spec.dtype), label);
}

at::Tensor ArgumentBuilder::tensor(const SpecTensor& spec, const CallPoint& point, RunKind kind,
                                   const std::string& label) const {
  if (kind == RunKind::kSymbolic) return symbolic_tensor(spec, point.layout, label);
  const size_t rank = spec.sizes.size();
  const DrawnLayout layout = layout_of_rank(point.layout, rank);
  std::vector<int64_t> in_memory;
  for (const SpecSize& size : spec.sizes) in_memory.push_back(size_value(size, drawn_.symbols, point.values));
  if (layout == DrawnLayout::kTransposed) std::swap(in_memory[rank - 1], in_memory[rank - 2]);
  if (layout == DrawnLayout::kGaps) in_memory[rank - 1] = in_memory[rank - 1] * 2;
  const auto device = kind == RunKind::kMeta ? at::kMeta : at::kCPU;
  const at::Tensor memory = at::empty(in_memory, at::TensorOptions().dtype(to_scalar_type(spec.dtype)).device(device));
  at::Tensor out = memory;
  if (kind == RunKind::kKernel && layout == DrawnLayout::kGaps) out.zero_();
  const int64_t last = static_cast<int64_t>(rank) - 1;
  if (layout == DrawnLayout::kTransposed) out = out.transpose(last, last - 1);
  if (layout == DrawnLayout::kGaps) {
    // Not slice(), which moves the offset when there is no element.
    std::vector<int64_t> sizes = in_memory, strides = out.strides().vec();
    sizes[last] /= 2;
    strides[last] = 2;
    out = out.as_strided(sizes, strides, 1);
  }
  if (kind != RunKind::kKernel) return out;
  fill(out, spec, drawn_.symbols, point);
  if (device_.is_cpu()) return out;
  return memory.to(device_).as_strided(out.sizes(), out.strides(), out.storage_offset());
}

c10::IValue ArgumentBuilder::value(size_t argument, const SpecValue& value, const CallPoint& point,
                                   RunKind kind) const {
  const std::string& name = schema_.arguments()[argument].name();
  c10::TypePtr type = schema_.arguments()[argument].real_type();
  if (const auto* optional = type->castRaw<c10::OptionalType>()) type = optional->getElementType();
  const auto size = [&](const SpecSize& s, bool symbolic) -> c10::SymInt {
    return kind == RunKind::kSymbolic && symbolic ? size_expr_of(s, drawn_.symbols)->as_sym_int()
                                                  : size_value(s, drawn_.symbols, point.values);
  };
  switch (value.kind) {
    case Kind::kNone:
      return {};
    case Kind::kTensor:
      return tensor(value.tensors[0], point, kind, name);
    case Kind::kTensors: {
      const auto* list = type->castRaw<c10::ListType>();
      const bool optional_elements = list && list->getElementType()->kind() == c10::TypeKind::OptionalType;
      c10::List<at::Tensor> plain;
      c10::List<std::optional<at::Tensor>> optional;
      for (size_t i = 0; i < value.tensors.size(); ++i) {
        at::Tensor one = tensor(value.tensors[i], point, kind, name + "[" + std::to_string(i) + "]");
        optional_elements ? optional.push_back(one) : plain.push_back(one);
      }
      return optional_elements ? c10::IValue(optional) : c10::IValue(plain);
    }
    case Kind::kSymbol:
      return c10::IValue(size(value.sizes[0], type->kind() == c10::TypeKind::SymIntType));
    case Kind::kSizes: {
      const auto* list = type->castRaw<c10::ListType>();
      const bool symbolic = list && list->getElementType()->kind() == c10::TypeKind::SymIntType;
      if (!symbolic) {
        std::vector<int64_t> numbers;
        for (const SpecSize& s : value.sizes) numbers.push_back(size_value(s, drawn_.symbols, point.values));
        return list ? plain_list(*list->getElementType(), numbers) : c10::IValue(numbers);
      }
      std::vector<c10::SymInt> sizes;
      for (const SpecSize& s : value.sizes) sizes.push_back(size(s, true));
      return c10::SymIntArrayRef(sizes);
    }
    case Kind::kInt:
      if (type->kind() == c10::TypeKind::FloatType) return static_cast<double>(value.integer);
      return value.integer;
    case Kind::kFloat:
      return value.real;
    case Kind::kBool:
      return value.integer != 0;
    case Kind::kText:
      return value.text;
    case Kind::kDtype:
      return static_cast<int64_t>(to_scalar_type(value.dtype));
    case Kind::kList:
      return literals(value.items);
  }
  return {};
}

torch::jit::Stack ArgumentBuilder::build(const CallPoint& point, RunKind kind) const {
  torch::jit::Stack stack;
  for (size_t a = 0; a < drawn_.alternatives.size(); ++a)
    stack.push_back(value(a, drawn_.alternatives[a][(*point.alternative)[a]], point, kind));
  return stack;
}

std::vector<at::Tensor> ArgumentBuilder::tensors_of(const torch::jit::Stack& stack) {
  std::vector<at::Tensor> out;
  for (const c10::IValue& value : stack) {
    if (value.isTensor())
      out.push_back(value.toTensor());
    else if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) out.push_back(tensor);
    else if (value.isOptionalTensorList())
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        if (tensor) out.push_back(*tensor);
  }
  return out;
}

std::vector<std::string> ArgumentBuilder::tensor_names(const torch::jit::Stack& stack) const {
  std::vector<std::string> names;
  for (size_t a = 0; a < stack.size(); ++a) {
    const std::string& name = schema_.arguments()[a].name();
    const size_t count = tensors_of({stack[a]}).size();
    for (size_t i = 0; i < count; ++i)
      names.push_back(stack[a].isTensor() ? name : name + "[" + std::to_string(i) + "]");
  }
  return names;
}

std::vector<bool> ArgumentBuilder::by_tensor(const torch::jit::Stack& stack,
                                             bool (*wanted)(const c10::AliasInfo&)) const {
  std::vector<bool> out;
  for (size_t a = 0; a < stack.size(); ++a) {
    const c10::AliasInfo* info = schema_.arguments()[a].alias_info();
    bool yes = info && wanted(*info);
    // Lists carry it on their elements: Tensor(a!)[].
    if (info)
      for (const c10::AliasInfo& inner : info->containedTypes()) yes = yes || wanted(inner);
    out.insert(out.end(), tensors_of({stack[a]}).size(), yes);
  }
  return out;
}

std::vector<bool> ArgumentBuilder::declared_written(const torch::jit::Stack& stack) const {
  return by_tensor(stack, [](const c10::AliasInfo& info) { return info.isWrite(); });
}

std::vector<bool> ArgumentBuilder::declared_aliased(const torch::jit::Stack& stack) const {
  return by_tensor(stack, [](const c10::AliasInfo& info) { return !info.beforeSets().empty() || info.isWrite(); });
}

std::string ArgumentBuilder::text(const std::vector<int>& alternative) const {
  std::string out;
  for (size_t a = 0; a < alternative.size(); ++a)
    out += (a ? " " : "") + schema_.arguments()[a].name() + "=" +
           value_text(drawn_.alternatives[a][alternative[a]], drawn_.symbols);
  return out;
}

int64_t ArgumentBuilder::largest_tensor(const CallPoint& point) const {
  int64_t largest = 0;
  for (size_t a = 0; a < drawn_.alternatives.size(); ++a) {
    const SpecValue& value = drawn_.alternatives[a][(*point.alternative)[a]];
    for (const SpecTensor& tensor : value.tensors) {
      int64_t count = 1;
      for (const SpecSize& size : tensor.sizes)
        if (__builtin_mul_overflow(count, std::max<int64_t>(size_value(size, drawn_.symbols, point.values), 1), &count))
          return std::numeric_limits<int64_t>::max();
      largest = std::max(largest, count);
    }
  }
  return largest;
}

}  // namespace aotifuzz
