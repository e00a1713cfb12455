#include "gate/argument_draw.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <algorithm>

#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

using Kind = SpecValue::Kind;

SpecValue none() { return {}; }
SpecValue integer(int64_t value) { return {.kind = Kind::kInt, .integer = value}; }
SpecValue truth(bool value) { return {.kind = Kind::kBool, .integer = value}; }
SpecValue real(double value) { return {.kind = Kind::kFloat, .real = value}; }

bool names_a_dimension(const std::string& argument) { return argument == "dim" || argument == "axis"; }

/// Draws from the schema alone, for one operator.
class DefaultDraw {
 public:
  DefaultDraw(const TensorGuess& guess, OperatorSpec* op) : guess_(guess), op_(op) {}

  /// What a call that does not say the argument gives it.
  std::vector<SpecValue> left_out(const c10::Argument& argument) {
    if (argument.default_value())
      if (auto value = from_default(*argument.default_value())) return {*value};
    return values(argument);
  }

  /// Empty: nothing can be drawn for such an argument.
  std::vector<SpecValue> values(const c10::Argument& argument) {
    const c10::TypePtr type = argument.real_type();
    if (const auto* optional = type->castRaw<c10::OptionalType>()) return optional_values(argument, *optional);
    if (argument.default_value() && type->kind() != c10::TypeKind::TensorType) {
      if (names_a_dimension(argument.name())) return {integer(0), integer(-1)};
      if (auto value = from_default(*argument.default_value())) return {*value};
    }
    return plain_values(argument.name(), type);
  }

 private:
  std::vector<SpecValue> optional_values(const c10::Argument& argument, const c10::OptionalType& optional) {
    const c10::TypePtr inner = optional.getElementType();
    if (inner->kind() == c10::TypeKind::TensorType) return {none(), tensor()};
    if (inner->kind() == c10::TypeKind::ScalarTypeType) return {none(), {.kind = Kind::kDtype, .dtype = Dtype::kF16}};
    if (argument.default_value())
      if (auto value = from_default(*argument.default_value())) return {*value};
    return {none()};
  }

  std::vector<SpecValue> plain_values(const std::string& name, const c10::TypePtr& type) {
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        return {tensor()};
      case c10::TypeKind::SymIntType:
        return {symbol(name)};
      case c10::TypeKind::IntType:
        if (names_a_dimension(name)) return {integer(0), integer(-1)};
        return {symbol(name)};
      case c10::TypeKind::FloatType:
      case c10::TypeKind::NumberType:
        return {real(0.5)};
      case c10::TypeKind::BoolType:
        return {truth(false), truth(true)};
      case c10::TypeKind::StringType:
        return {{.kind = Kind::kText}};
      case c10::TypeKind::ScalarTypeType:
        return {{.kind = Kind::kDtype, .dtype = Dtype::kF32}};
      case c10::TypeKind::ListType:
        return list_values(type->castRaw<c10::ListType>()->getElementType());
      default:
        return {};
    }
  }

  std::vector<SpecValue> list_values(const c10::TypePtr& element) {
    SpecValue out;
    switch (element->kind()) {
      case c10::TypeKind::TensorType:
        out.kind = Kind::kTensors;
        out.tensors = {tensor().tensors[0], tensor().tensors[0]};
        return {out};
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        out.kind = Kind::kSizes;
        out.sizes = {SpecSize{.add = 1}};
        return {out};
      default:
        return {};
    }
  }

  std::optional<SpecValue> from_default(const c10::IValue& value) {
    if (value.isNone()) return none();
    if (value.isBool()) return truth(value.toBool());
    if (value.isInt()) return integer(value.toInt());
    if (value.isDouble()) return real(value.toDouble());
    if (value.isString()) return SpecValue{.kind = Kind::kText, .text = value.toStringRef()};
    if (value.isIntList()) {
      SpecValue out{.kind = Kind::kSizes};
      for (const int64_t size : value.toIntVector()) out.sizes.push_back({.add = size});
      return out;
    }
    return std::nullopt;
  }

  SpecValue symbol(const std::string& name) {
    SpecValue out{.kind = Kind::kSymbol};
    out.sizes = {SpecSize{.symbol = op_->symbol_index(name)}};
    op_->symbols[out.sizes[0].symbol].min = 1;
    return out;
  }

  SpecValue tensor() {
    SpecTensor out{.dtype = guess_.dtype};
    for (int d = 0; d < guess_.rank; ++d)
      out.sizes.push_back({.symbol = op_->symbol_index(std::string("s").append(std::to_string(d)))});
    SpecValue value{.kind = Kind::kTensor};
    value.tensors = {std::move(out)};
    return value;
  }

  TensorGuess guess_;
  OperatorSpec* op_;
};

bool is_int_type(c10::TypePtr type) {
  if (const auto* optional = type->castRaw<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::IntType;
}

void note_uses(const c10::FunctionSchema& schema, DrawnArguments* drawn) {
  drawn->is_plain_int.assign(drawn->symbols.size(), false);
  drawn->argument_of_symbol.assign(drawn->symbols.size(), "");
  for (size_t a = 0; a < drawn->alternatives.size(); ++a)
    for (const SpecValue& value : drawn->alternatives[a]) {
      // The sum of two symbols is given to nobody in particular.
      if (value.kind != Kind::kSymbol || value.sizes[0].formula || value.sizes[0].symbol < 0) continue;
      const int symbol = value.sizes[0].symbol;
      drawn->argument_of_symbol[symbol] = schema.arguments()[a].name();
      if (is_int_type(schema.arguments()[a].real_type())) drawn->is_plain_int[symbol] = true;
    }
}

}  // namespace

DrawnArguments draw_arguments(const c10::FunctionSchema& schema, const OperatorSpec* spec, const TensorGuess& guess) {
  DrawnArguments drawn;
  drawn.by_default = !spec;
  drawn.by_call = spec && spec->is_call;
  OperatorSpec symbols;
  if (spec) symbols = *spec;
  DefaultDraw defaults(guess, &symbols);
  for (const c10::Argument& argument : schema.arguments()) {
    const bool said = spec && spec->arguments.count(argument.name());
    auto values = said            ? spec->arguments.at(argument.name())
                  : drawn.by_call ? defaults.left_out(argument)
                                  : defaults.values(argument);
    if (values.empty() && drawn.unsupported.empty())
      drawn.unsupported = "argument " + argument.name() + " is of type " + argument.real_type()->str();
    drawn.alternatives.push_back(std::move(values));
    drawn.from_spec.push_back(said);
  }
  drawn.symbols = std::move(symbols.symbols);
  drawn.conditions = std::move(symbols.conditions);
  drawn.not_negative = std::move(symbols.not_negative);
  note_uses(schema, &drawn);
  return drawn;
}

std::vector<Expr> conditions_of(const DrawnArguments& drawn) {
  std::vector<Expr> out = drawn.conditions;
  out.insert(out.end(), drawn.not_negative.begin(), drawn.not_negative.end());
  return out;
}

std::vector<std::string> unknown_arguments(const c10::FunctionSchema& schema, const OperatorSpec& spec) {
  std::vector<std::string> out;
  for (const auto& [name, values] : spec.arguments)
    if (!schema.argumentIndexWithName(name)) out.push_back(name);
  return out;
}

std::string spec_line(const c10::FunctionSchema& schema, const std::string& name, const DrawnArguments& drawn) {
  std::string line = name;
  for (size_t a = 0; a < drawn.alternatives.size(); ++a) {
    line += " " + schema.arguments()[a].name() + "=";
    for (size_t i = 0; i < drawn.alternatives[a].size(); ++i)
      line.append(i ? "|" : "").append(value_text(drawn.alternatives[a][i], drawn.symbols));
  }
  std::vector<bool> given;
  for (const std::string& argument : drawn.argument_of_symbol) given.push_back(!argument.empty());
  return line + limits_text(drawn.symbols, drawn.conditions, given);
}

bool tensor_values_may_matter(std::string_view arguments) {
  for (const std::string_view mark : {"=i", "=u", "{i", "{u", ";i", ";u"})
    if (arguments.find(mark) != std::string_view::npos) return true;
  return false;
}

bool values_may_matter(std::string_view arguments) {
  return arguments.find('$') != std::string_view::npos || tensor_values_may_matter(arguments);
}

bool with_zeros(DrawnArguments* drawn) {
  bool any = false;
  for (std::vector<SpecValue>& values : drawn->alternatives)
    for (SpecValue& value : values)
      for (SpecTensor& tensor : value.tensors)
        if (dtype_is_integral(tensor.dtype) && tensor.values == SpecTensor::Values::kAny) {
          tensor.values = SpecTensor::Values::kConst;
          tensor.constant = 0;
          any = true;
        }
  return any;
}

std::vector<std::vector<int>> choose_alternatives(const DrawnArguments& drawn, size_t limit, size_t* dropped) {
  std::vector<std::vector<int>> choices;
  std::vector<int> now(drawn.alternatives.size(), 0);
  *dropped = 0;
  for (;;) {
    if (choices.size() < limit)
      choices.push_back(now);
    else
      ++*dropped;
    size_t a = 0;
    for (; a < now.size(); ++a) {
      if (++now[a] < static_cast<int>(drawn.alternatives[a].size())) break;
      now[a] = 0;
    }
    if (a == now.size() || *dropped > 10'000) return choices;
  }
}

}  // namespace aotifuzz
