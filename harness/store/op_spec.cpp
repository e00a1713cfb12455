#include "store/op_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

/// Far above what anybody writes by hand; keeps products of sizes within int64.
constexpr int64_t kSizeMax = int64_t{1} << 31;
/// More than that ATen's own operators refuse.
constexpr size_t kDimensionsMax = 64;

bool is_name(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Splits at `separator` where no bracket or quotation mark is open.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    if (i < text.size() && c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{' || c == '(')) ++depth;
    if (!quoted && (c == ']' || c == '}' || c == ')')) --depth;
    if (i == text.size() || (c == separator && depth == 0 && !quoted)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// One line being read.
class LineParser {
 public:
  LineParser(std::string where, OperatorSpec* op) : where_(std::move(where)), op_(op) {}

  Result<void> item(std::string_view text) {
    if (text == "@python-fake") return op_->python_fake = true, Result<void>();
    if (text == "@skip") return op_->skip = true, Result<void>();
    const size_t equals = text.find('=');
    for (const std::string_view mark : {">=", "<=", "%"})
      if (const size_t at = text.find(mark); at != std::string_view::npos && is_name(text.substr(0, at)))
        return bound(text.substr(0, at), mark, text.substr(at + mark.size()));
    if (equals == std::string_view::npos || !is_name(text.substr(0, equals)))
      return fail("neither argument=value nor SYMBOL>=N", text);
    const std::string name(text.substr(0, equals));
    if (op_->arguments.count(name)) return fail("the argument is given twice", text);
    std::vector<SpecValue> values;
    for (const std::string_view part : split(text.substr(equals + 1), '|')) {
      auto value = this->value(part);
      if (!value) return tl::unexpected(value.error());
      values.push_back(std::move(*value));
    }
    op_->arguments.emplace(name, std::move(values));
    return {};
  }

  /// Bounds may stand before the symbol's first use; only at the end is it known which symbols exist.
  Result<void> finish() {
    for (const Bound& b : bounds_) {
      const auto found = std::find_if(op_->symbols.begin(), op_->symbols.end(),
                                      [&](const SpecSymbol& s) { return s.name == b.symbol; });
      if (found == op_->symbols.end()) return fail("no argument of the line uses this symbol", b.symbol);
      if (b.mark == ">=") found->min = b.value;
      if (b.mark == "<=") found->max = b.value;
      if (b.mark == "%") found->multiple = b.value;
    }
    for (const auto& [symbol, least] : least_) op_->symbols[symbol].min = std::max(op_->symbols[symbol].min, least);
    for (const SpecSymbol& symbol : op_->symbols)
      if ((symbol.min + symbol.multiple - 1) / symbol.multiple * symbol.multiple > symbol.max)
        return fail(fmt::format("no value is within the bounds of the symbol, from {} to {} in steps of {}", symbol.min,
                                symbol.max, symbol.multiple),
                    symbol.name);
    return {};
  }

 private:
  struct Bound {
    std::string symbol, mark;
    int64_t value;
  };

  tl::unexpected<ParseError> fail(std::string what, std::string_view text) const {
    return parse_error(std::move(what), where_ + ", '" + std::string(text) + "'");
  }

  Result<void> bound(std::string_view symbol, std::string_view mark, std::string_view number) {
    const auto value = integer_of(number);
    if (!value || *value < 0 || *value > kSizeMax || (mark == "%" && *value == 0))
      return fail("not a bound from 0 to 2^31", number);
    bounds_.push_back({std::string(symbol), std::string(mark), *value});
    return {};
  }

  Result<SpecSize> size(std::string_view text) {
    text = trimmed(text);
    SpecSize out;
    if (const auto number = integer_of(text)) {
      out.add = *number;
      if (*number < -kSizeMax || *number > kSizeMax) return fail("the size is too large", text);
      return out;
    }
    std::string_view symbol = text;
    if (const size_t star = text.find('*'); star != std::string_view::npos) {
      const auto factor = integer_of(trimmed(text.substr(0, star)));
      if (!factor || *factor < 1 || *factor > kSizeMax) return fail("not a factor of a size", text);
      out.factor = *factor;
      symbol = trimmed(text.substr(star + 1));
    } else if (const size_t sign = text.find_first_of("+-"); sign != std::string_view::npos && sign > 0) {
      const auto add = integer_of(trimmed(text.substr(sign + 1)));
      if (!add || *add < 0 || *add > kSizeMax) return fail("not a number that is added to a size", text);
      out.add = text[sign] == '-' ? -*add : *add;
      symbol = trimmed(text.substr(0, sign));
    }
    if (!symbol.empty() && symbol[0] == '$') symbol.remove_prefix(1);
    if (!is_name(symbol)) return fail("not a size: N, S, S+N, S-N or N*S", text);
    out.symbol = op_->symbol_index(std::string(symbol));
    return out;
  }

  /// Of a number that is at least 1 where the line says nothing else: $K-2 makes K at least 3.
  void raise_min(int symbol, int64_t least) {
    op_->symbols[symbol].min = std::max({op_->symbols[symbol].min, int64_t{1}, least});
  }

  /// S-5 keeps the symbol from being less than 5.
  Result<void> keep_from_negative(const SpecSize& size, std::string_view text) {
    if (size.symbol < 0 && size.add < 0) return fail("a size is negative", text);
    if (size.symbol >= 0 && size.add < 0) least_[size.symbol] = std::max(least_[size.symbol], -size.add);
    return {};
  }

  Result<std::vector<SpecSize>> sizes(std::string_view text) {
    std::vector<SpecSize> out;
    if (trimmed(text).empty()) return out;
    for (const std::string_view part : split(text, ',')) {
      auto one = size(part);
      if (!one) return tl::unexpected(one.error());
      out.push_back(*one);
    }
    return out;
  }

  Result<SpecTensor> tensor(std::string_view text) {
    text = trimmed(text);
    const size_t open = text.find('['), close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      return fail("not a tensor: f32[B,D]", text);
    SpecTensor out;
    const auto dtype = dtype_from_name(text.substr(0, open));
    if (!dtype) return fail("not a dtype: f32, bf16, i64, bool...", text.substr(0, open));
    out.dtype = *dtype;
    auto all = sizes(text.substr(open + 1, close - open - 1));
    if (!all) return tl::unexpected(all.error());
    out.sizes = std::move(*all);
    if (out.sizes.size() > kDimensionsMax)
      return fail(fmt::format("a tensor has at most {} dimensions, and not {}", kDimensionsMax, out.sizes.size()),
                  text.substr(0, open));
    for (const SpecSize& size : out.sizes)
      if (auto ok = keep_from_negative(size, text); !ok) return tl::unexpected(ok.error());
    std::string_view rest = text.substr(close + 1);
    if (rest.empty()) return out;
    if (rest == ":permutation") {
      out.values = SpecTensor::Values::kPermutation;
      return out;
    }
    const size_t bracket = rest.find('(');
    if (rest[0] != ':' || bracket == std::string_view::npos || rest.back() != ')')
      return fail("not what the values are: :below(N), :offsets(N), :lengths(N), :const(1.5), :permutation", rest);
    const std::string_view kind = rest.substr(1, bracket - 1),
                           inner = rest.substr(bracket + 1, rest.size() - bracket - 2);
    if (kind == "const") {
      out.values = SpecTensor::Values::kConst;
      const auto [end, error] = std::from_chars(inner.data(), inner.data() + inner.size(), out.constant);
      if (error != std::errc() || end != inner.data() + inner.size()) return fail("not a number", inner);
      return out;
    }
    if (kind == "below") out.values = SpecTensor::Values::kBelow;
    if (kind == "offsets") out.values = SpecTensor::Values::kOffsets;
    if (kind == "lengths") out.values = SpecTensor::Values::kLengths;
    if (out.values == SpecTensor::Values::kAny) return fail("unknown kind of values", kind);
    auto limit = size(inner);
    if (!limit) return tl::unexpected(limit.error());
    if (auto ok = keep_from_negative(*limit, inner); !ok) return tl::unexpected(ok.error());
    out.limit = *limit;
    return out;
  }

  Result<SpecValue> value(std::string_view text) {
    SpecValue out;
    if (text == "None") return out;
    if (text.empty()) return fail("a value is missing", text);
    if (text.front() == '{' && text.back() == '}') {
      out.kind = SpecValue::Kind::kTensors;
      const std::string_view inner = text.substr(1, text.size() - 2);
      if (trimmed(inner).empty()) return out;
      for (const std::string_view part : split(inner, ';')) {
        auto one = tensor(part);
        if (!one) return tl::unexpected(one.error());
        out.tensors.push_back(std::move(*one));
      }
      return out;
    }
    if (text.front() == '[' && text.back() == ']') {
      out.kind = SpecValue::Kind::kSizes;
      auto all = sizes(text.substr(1, text.size() - 2));
      if (!all) return tl::unexpected(all.error());
      out.sizes = std::move(*all);
      // A plain number may mean something else: -1 is "as many as there are".
      for (const SpecSize& size : out.sizes)
        if (size.symbol >= 0)
          if (auto ok = keep_from_negative(size, text); !ok) return tl::unexpected(ok.error());
      return out;
    }
    if (text.front() == '"' && text.back() == '"' && text.size() > 1) {
      out.kind = SpecValue::Kind::kText;
      out.text = text.substr(1, text.size() - 2);
      return out;
    }
    if (text.front() == '$') {
      auto one = size(text.substr(1));
      if (!one) return tl::unexpected(one.error());
      if (one->symbol >= 0) raise_min(one->symbol, 1 - one->add);
      out.kind = SpecValue::Kind::kSymbol;
      out.sizes = {*one};
      return out;
    }
    if (text.find('[') != std::string_view::npos) {
      auto one = tensor(text);
      if (!one) return tl::unexpected(one.error());
      out.kind = SpecValue::Kind::kTensor;
      out.tensors = {std::move(*one)};
      return out;
    }
    return scalar(text);
  }

  Result<SpecValue> scalar(std::string_view text) {
    SpecValue out;
    if (text == "true" || text == "false") {
      out.kind = SpecValue::Kind::kBool;
      out.integer = text == "true";
    } else if (const auto number = integer_of(text)) {
      out.kind = SpecValue::Kind::kInt;
      out.integer = *number;
    } else if (const auto dtype = dtype_from_name(text)) {
      out.kind = SpecValue::Kind::kDtype;
      out.dtype = *dtype;
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.real);
      if (error != std::errc() || end != text.data() + text.size()) return fail("not a value", text);
      out.kind = SpecValue::Kind::kFloat;
    }
    return out;
  }

  std::string where_;
  OperatorSpec* op_;
  std::vector<Bound> bounds_;
  std::map<int, int64_t> least_;  ///< by symbol: what keeps every size from being negative
};

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

int OperatorSpec::symbol_index(const std::string& symbol) {
  for (size_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].name == symbol) return static_cast<int>(i);
  symbols.push_back({.name = symbol});
  return static_cast<int>(symbols.size() - 1);
}

Result<OpSpec> parse_op_spec(std::string_view text, const std::string& name) {
  OpSpec spec;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' '))
      if (const std::string_view kept = trimmed(word); !kept.empty()) words.push_back(kept);
    if (words.empty()) continue;
    const std::string where = name + " line " + std::to_string(number);
    OperatorSpec op;
    op.name = words[0];
    op.line = number;
    if (op.name.find("::") == std::string::npos) return parse_error("a line starts with ns::operator", where);
    if (spec.count(op.name)) return parse_error("the operator has two lines", where + ", " + op.name);
    LineParser parser(where, &op);
    for (size_t i = 1; i < words.size(); ++i)
      if (auto ok = parser.item(words[i]); !ok) return tl::unexpected(ok.error());
    if (auto ok = parser.finish(); !ok) return tl::unexpected(ok.error());
    const std::string key = op.name;
    spec.emplace(key, std::move(op));
  }
  return spec;
}

OpSpec read_op_spec(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw HarnessError("the spec cannot be found", path, "check the path");
  if (!fs::is_regular_file(status))
    throw HarnessError("the spec is not a regular file", path, "write it to a file and give that");
  const uint64_t bytes = fs::file_size(path, error);
  if (error) throw HarnessError("the spec cannot be read: " + error.message(), path, "check the path");
  if (bytes > kOpSpecBytesMax)
    throw HarnessError(fmt::format("the spec has {} bytes, and at most {} are read", bytes, kOpSpecBytesMax), path,
                       "give a text of one line an operator, as `--init-spec` writes it");
  auto parsed = parse_op_spec(read_file(path), path);
  if (!parsed)
    throw HarnessError(parsed.error().what, parsed.error().where,
                       "correct the line; the README has the grammar, under \"Gate a custom operator's library\"");
  return std::move(*parsed);
}

std::string size_text(const SpecSize& size, const std::vector<SpecSymbol>& symbols) {
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
      return "$" + size_text(value.sizes[0], symbols);
    case SpecValue::Kind::kSizes: {
      std::string out = "[";
      for (size_t i = 0; i < value.sizes.size(); ++i) out += (i ? "," : "") + size_text(value.sizes[i], symbols);
      return out + "]";
    }
    case SpecValue::Kind::kInt:
      return std::to_string(value.integer);
    case SpecValue::Kind::kFloat: {
      const std::string text = fmt::format("{}", value.real);
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
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

int64_t size_value(const SpecSize& size, const std::vector<int64_t>& values) {
  return size.symbol < 0 ? size.add : size.factor * values[size.symbol] + size.add;
}

}  // namespace aotifuzz
