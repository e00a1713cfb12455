#include "worker/argument_binding.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>

#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

using Bound = tl::expected<Operand, std::string>;
using Kind = Argument::Kind;

tl::unexpected<std::string> misfit(std::string text) { return tl::unexpected<std::string>(std::move(text)); }

Operand constant(c10::IValue value) {
  Operand operand;
  operand.constant = std::move(value);
  return operand;
}

bool names_a_value(Kind kind) {
  return kind == Kind::kTensor || kind == Kind::kSymInt || kind == Kind::kSymFloat || kind == Kind::kSymBool;
}

Bound slot(const Argument& argument, const SlotOf& slot_of, Coercion coercion) {
  const std::optional<int> index = slot_of(argument.name);
  if (!index) return misfit("no value named " + argument.name);
  Operand operand;
  operand.kind = Operand::Kind::kSlot;
  operand.slot = *index;
  operand.coercion = coercion;
  return operand;
}

/// Codes of the export schema, which are not c10's.
std::optional<int64_t> memory_format(int64_t code) {
  switch (code) {
    case 1:
      return static_cast<int64_t>(c10::MemoryFormat::Contiguous);
    case 2:
      return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast);
    case 3:
      return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d);
    case 4:
      return static_cast<int64_t>(c10::MemoryFormat::Preserve);
    default:
      return std::nullopt;
  }
}
std::optional<int64_t> layout(int64_t code) {
  switch (code) {
    case 1:
      return static_cast<int64_t>(c10::Layout::Sparse);
    case 2:
      return static_cast<int64_t>(c10::Layout::SparseCsr);
    case 3:
      return static_cast<int64_t>(c10::Layout::SparseCsc);
    case 4:
      return static_cast<int64_t>(c10::Layout::SparseBsr);
    case 5:
      return static_cast<int64_t>(c10::Layout::SparseBsc);
    case 6:
      return static_cast<int64_t>(c10::Layout::Mkldnn);
    case 7:
      return static_cast<int64_t>(c10::Layout::Strided);
    default:
      return std::nullopt;
  }
}

/// The argument as a plain constant, by its own kind; nullopt for named values, lists and graphs.
std::optional<c10::IValue> plain_constant(const Argument& a) {
  switch (a.kind) {
    case Kind::kNone:
      return c10::IValue();
    case Kind::kInt:
      return c10::IValue(a.integer);
    case Kind::kFloat:
      return c10::IValue(a.real);
    case Kind::kBool:
      return c10::IValue(a.boolean);
    case Kind::kString:
      return c10::IValue(a.name);
    case Kind::kComplex:
      return c10::IValue(c10::complex<double>(a.real, a.imag));
    case Kind::kDevice:
      return c10::IValue(c10::Device(a.name));
    case Kind::kScalarType: {
      const std::optional<Dtype> dtype = dtype_from_schema(a.integer);
      if (!dtype || *dtype == Dtype::kUnknown) return std::nullopt;
      return c10::IValue(static_cast<int64_t>(to_scalar_type(*dtype)));
    }
    case Kind::kMemoryFormat:
      if (const auto code = memory_format(a.integer)) return c10::IValue(*code);
      return std::nullopt;
    case Kind::kLayout:
      if (const auto code = layout(a.integer)) return c10::IValue(*code);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

at::Tensor wrapped_number(const c10::IValue& number) {
  at::Tensor tensor = at::scalar_to_tensor(number.toScalar());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

Coercion coercion_for(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
      return Coercion::kTensor;
    case c10::TypeKind::NumberType:
      return Coercion::kScalar;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return Coercion::kInt;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::SymFloatType:
      return Coercion::kFloat;
    default:
      return Coercion::kNone;
  }
}

ListType list_type_for(const c10::Type& element) {
  switch (element.kind()) {
    case c10::TypeKind::TensorType:
      return ListType::kTensor;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return ListType::kInt;
    case c10::TypeKind::FloatType:
      return ListType::kFloat;
    case c10::TypeKind::BoolType:
      return ListType::kBool;
    case c10::TypeKind::OptionalType:
      return element.castRaw<c10::OptionalType>()->getElementType()->kind() == c10::TypeKind::TensorType
                 ? ListType::kOptionalTensor
                 : ListType::kGeneric;
    default:
      return ListType::kGeneric;
  }
}

Bound bind_value(const Argument& a, const c10::TypePtr& type, std::optional<int32_t> fixed_length,
                 const SlotOf& slot_of);

Bound bind_list(const Argument& a, const c10::TypePtr& element, std::optional<int32_t> fixed_length,
                const SlotOf& slot_of) {
  Operand list;
  list.kind = Operand::Kind::kList;
  list.list_type = list_type_for(*element);
  if (a.kind == Kind::kList) {
    for (const Argument& item : a.items) {
      Bound bound = bind_value(item, element, std::nullopt, slot_of);
      if (!bound) return bound;
      list.items.push_back(std::move(*bound));
    }
    return list;
  }
  // int[2] given one number: Python repeats it.
  Bound bound = bind_value(a, element, std::nullopt, slot_of);
  if (!bound) return bound;
  list.items.assign(std::max(1, fixed_length.value_or(1)), *bound);
  return list;
}

Bound bind_value(const Argument& a, const c10::TypePtr& type, std::optional<int32_t> fixed_length,
                 const SlotOf& slot_of) {
  if (type->kind() == c10::TypeKind::OptionalType) {
    if (a.kind == Kind::kNone) return constant(c10::IValue());
    return bind_value(a, type->castRaw<c10::OptionalType>()->getElementType(), fixed_length, slot_of);
  }
  if (type->kind() == c10::TypeKind::ListType)
    return bind_list(a, type->castRaw<c10::ListType>()->getElementType(), fixed_length, slot_of);

  const Coercion coercion = coercion_for(*type);
  if (names_a_value(a.kind)) return slot(a, slot_of, coercion);
  std::optional<c10::IValue> value = plain_constant(a);
  if (!value) return misfit("cannot pass this kind of argument as " + type->str());
  switch (coercion) {
    case Coercion::kTensor:
      if (value->isNone()) return constant(at::Tensor());
      if (!value->isScalar()) return misfit("not a tensor");
      return constant(wrapped_number(*value));
    case Coercion::kScalar:
      if (!value->isScalar()) return misfit("not a number");
      return constant(*value);
    case Coercion::kInt:
      if (value->isBool()) return constant(static_cast<int64_t>(value->toBool()));
      if (!value->isInt()) return misfit("not an int");
      return constant(*value);
    case Coercion::kFloat:
      if (value->isInt()) return constant(static_cast<double>(value->toInt()));
      if (!value->isDouble()) return misfit("not a float");
      return constant(*value);
    case Coercion::kNone:
      return constant(*value);
  }
  return misfit("unknown type " + type->str());
}

}  // namespace

Bound bind_argument(const Argument& argument, const c10::Argument& parameter, const SlotOf& slot_of) {
  return bind_value(argument, parameter.type(), parameter.N(), slot_of);
}

Bound bind_free(const Argument& a, const SlotOf& slot_of) {
  if (names_a_value(a.kind)) return slot(a, slot_of, Coercion::kNone);
  if (a.kind == Kind::kList) {
    Operand list;
    list.kind = Operand::Kind::kList;
    for (const Argument& item : a.items) {
      Bound bound = bind_free(item, slot_of);
      if (!bound) return bound;
      list.items.push_back(std::move(*bound));
    }
    return list;
  }
  if (a.kind == Kind::kOperator) return constant(c10::IValue(a.name));
  std::optional<c10::IValue> value = plain_constant(a);
  if (!value) return misfit("cannot pass this kind of argument");
  return constant(*value);
}

}  // namespace aotifuzz
