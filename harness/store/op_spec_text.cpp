#include <fmt/format.h>

#include "store/op_spec.h"

namespace aotifuzz {
namespace {

std::string tensor_text(const SpecTensor& tensor, const std::vector<SpecSymbol>& symbols) {
  std::string out = std::string(dtype_name(tensor.dtype)) + "[";
  for (size_t i = 0; i < tensor.sizes.size(); ++i) out += (i ? "," : "") + size_text(tensor.sizes[i], symbols);
  out += "]";
  switch (tensor.values) {
    case SpecTensor::Values::kAny:
      return out;
    case SpecTensor::Values::kBelow:
      return out + ":below(" + size_text(tensor.limit, symbols) + ")";
    case SpecTensor::Values::kOffsets:
      return out + ":offsets(" + size_text(tensor.limit, symbols) + ")";
    case SpecTensor::Values::kLengths:
      return out + ":lengths(" + size_text(tensor.limit, symbols) + ")";
    case SpecTensor::Values::kPermutation:
      return out + ":permutation";
    case SpecTensor::Values::kConst:
      return out + fmt::format(":const({})", tensor.constant);
  }
  return out;
}

}  // namespace

std::string size_text(const SpecSize& size, const std::vector<SpecSymbol>& symbols) {
  if (size.formula) return size.formula->text();
  if (size.symbol < 0) return std::to_string(size.add);
  std::string out = symbols[size.symbol].name;
  if (size.factor != 1) out = std::to_string(size.factor) + "*" + out;
  if (size.add > 0) out += "+" + std::to_string(size.add);
  if (size.add < 0) out += std::to_string(size.add);
  return out;
}

std::string value_text(const SpecValue& value, const std::vector<SpecSymbol>& symbols) {
  switch (value.kind) {
    case SpecValue::Kind::kNone:
      return "None";
    case SpecValue::Kind::kTensor:
      return tensor_text(value.tensors[0], symbols);
    case SpecValue::Kind::kTensors: {
      std::string out = "{";
      for (size_t i = 0; i < value.tensors.size(); ++i) out += (i ? ";" : "") + tensor_text(value.tensors[i], symbols);
      return out + "}";
    }
    case SpecValue::Kind::kSymbol:
      return value.sizes[0].formula ? "$(" + size_text(value.sizes[0], symbols) + ")"
                                    : "$" + size_text(value.sizes[0], symbols);
    case SpecValue::Kind::kSizes: {
      std::string out = "[";
      for (size_t i = 0; i < value.sizes.size(); ++i) out += (i ? "," : "") + size_text(value.sizes[i], symbols);
      return out + "]";
    }
    case SpecValue::Kind::kInt:
      return std::to_string(value.integer);
    case SpecValue::Kind::kFloat: {
      const std::string text = fmt::format("{}", value.real);
      return text.find_first_of(".enf") == std::string::npos ? text + ".0" : text;
    }
    case SpecValue::Kind::kList: {
      std::string out = "[";
      for (size_t i = 0; i < value.items.size(); ++i) out += (i ? "," : "") + value_text(value.items[i], symbols);
      return out + "]";
    }
    case SpecValue::Kind::kBool:
      return value.integer ? "true" : "false";
    case SpecValue::Kind::kText:
      return "\"" + value.text + "\"";
    case SpecValue::Kind::kDtype:
      return std::string(dtype_name(value.dtype));
  }
  return "";
}

std::string limits_text(const std::vector<SpecSymbol>& symbols, const std::vector<Expr>& conditions,
                        const std::vector<bool>& given) {
  std::string out;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const SpecSymbol& symbol = symbols[i];
    if (symbol.min > 0 || given[i]) out += " " + symbol.name + ">=" + std::to_string(symbol.min);
    if (symbol.max != std::numeric_limits<int64_t>::max()) out += " " + symbol.name + "<=" + std::to_string(symbol.max);
    if (symbol.multiple != 1) out += " " + symbol.name + "%" + std::to_string(symbol.multiple);
  }
  for (const Expr& condition : conditions) out += " (" + condition.text() + ")";
  return out;
}

}  // namespace aotifuzz
