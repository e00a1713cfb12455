#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "core/guard_parser.h"
#include "store/op_spec.h"
#include "store/spec_words.h"

namespace aotifuzz {
namespace {

/// Far above what anybody writes by hand; keeps products of sizes within int64.
constexpr int64_t kSizeMax = int64_t{1} << 31;
/// More than that ATen's own operators refuse.
constexpr size_t kDimensionsMax = 64;

bool is_condition(ExprOp op) {
  switch (op) {
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kGt:
    case ExprOp::kGe:
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kNot:
      return true;
    default:
      return false;
  }
}

/// One line being read.
class LineParser {
 public:
  LineParser(std::string where, OperatorSpec* op) : where_(std::move(where)), op_(op) {}

  Result<void> item(std::string_view text) {
    if (text == "@python-fake") return op_->python_fake = true, Result<void>();
    if (text == "@skip") return op_->skip = true, Result<void>();
    const size_t equals = text.find('=');
    const bool names_an_argument =
        equals != std::string_view::npos && is_name(text.substr(0, equals)) && text.substr(equals, 2) != "==";
    if (!names_an_argument)
      for (const std::string_view mark : {">=", "<=", "%"})
        if (const size_t at = text.find(mark); at != std::string_view::npos && is_name(text.substr(0, at)) &&
                                               !holds_a_name_or_comparison(text.substr(at + mark.size())))
          return bound(text.substr(0, at), mark, text.substr(at + mark.size()));
    if (!names_an_argument && text.find_first_of("<>=") != std::string_view::npos) return condition(text);
    if (!names_an_argument) return fail("neither argument=value nor SYMBOL>=N nor a condition", text);
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
    for (const Expr& condition : op_->conditions) {
      std::set<std::string> names;
      condition.collect_symbols(names);
      for (const std::string& name : names)
        if (std::none_of(op_->symbols.begin(), op_->symbols.end(),
                         [&](const SpecSymbol& symbol) { return symbol.name == name; }))
          return fail("no argument of the line uses this symbol", name);
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

  /// Of sizes; a symbol by the name of L, which is special in guards, too.
  Result<Expr> expression(std::string_view text) const {
    auto parsed = parse_guard(text, [](const std::vector<std::string>& path) {
      return path.empty() ? std::optional<std::string>("L") : std::nullopt;
    });
    if (!parsed) return parse_error(parsed.error().what, where_ + ", '" + std::string(text) + "'");
    std::set<std::string> names;
    parsed->collect_symbols(names);
    if (parsed->has_opaque() ||
        !std::all_of(names.begin(), names.end(), [](const std::string& n) { return is_name(n); }))
      return fail("not an expression of numbers and symbols", text);
    return parsed;
  }

  Result<void> condition(std::string_view text) {
    auto parsed = expression(text);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!is_condition(parsed->op())) return fail("not a condition: B<=L", text);
    op_->conditions.push_back(std::move(*parsed));
    return {};
  }

  Result<SpecSize> size(std::string_view text) {
    text = trimmed(text);
    if (text.find_first_of("(/%,") != std::string_view::npos || std::count_if(text.begin(), text.end(), is_sign) > 1 ||
        multiplies_symbols(text))
      return formula(text);
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
      if (!add && is_name(trimmed(text.substr(sign + 1)))) return formula(text);
      if (!add || *add < 0 || *add > kSizeMax) return fail("not a number that is added to a size", text);
      out.add = text[sign] == '-' ? -*add : *add;
      symbol = trimmed(text.substr(0, sign));
    }
    if (!symbol.empty() && symbol[0] == '$') symbol.remove_prefix(1);
    if (!is_name(symbol)) return fail("not a size: N, S, S+N, S-N or N*S", text);
    out.symbol = op_->symbol_index(std::string(symbol));
    return out;
  }

  Result<SpecSize> formula(std::string_view text) {
    auto parsed = expression(text);
    if (!parsed) return fail("not a size: " + parsed.error().what, text);
    if (is_condition(parsed->op())) return fail("not a size but a condition", text);
    SpecSize out;
    if (parsed->is_constant()) {
      if (parsed->value() < -kSizeMax || parsed->value() > kSizeMax) return fail("the size is too large", text);
      out.add = parsed->value();
      return out;
    }
    std::set<std::string> names;
    parsed->collect_symbols(names);
    for (const std::string& name : names) op_->symbol_index(name);
    out.formula = std::move(*parsed);
    return out;
  }

  /// Of a number that is at least 1 where the line says nothing else: $K-2 makes K at least 3.
  void raise_min(int symbol, int64_t least) {
    op_->symbols[symbol].min = std::max({op_->symbols[symbol].min, int64_t{1}, least});
  }

  /// S-5 keeps the symbol from being less than 5.
  Result<void> keep_from_negative(const SpecSize& size, std::string_view text) {
    if (size.formula) op_->not_negative.push_back(Expr::make(ExprOp::kGe, {*size.formula, Expr::integer(0)}));
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
    if (text.front() == '[' && text.back() == ']' && holds_literals(text.substr(1, text.size() - 2))) {
      out.kind = SpecValue::Kind::kList;
      for (const std::string_view part : split(text.substr(1, text.size() - 2), ',')) {
        auto item = value(trimmed(part));
        if (!item) return item;
        if (item->kind == SpecValue::Kind::kInt) item->real = static_cast<double>(item->integer);
        if (item->kind == SpecValue::Kind::kInt) item->kind = SpecValue::Kind::kFloat;
        if (item->kind != SpecValue::Kind::kFloat && item->kind != SpecValue::Kind::kBool &&
            item->kind != SpecValue::Kind::kText)
          return fail("neither sizes nor numbers, true, false or texts", text);
        out.items.push_back(std::move(*item));
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

}  // namespace

Result<OpSpec> parse_op_spec(std::string_view text, const std::string& name) {
  OpSpec spec;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(comment_begin(line));
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, ' '))
      if (const std::string_view kept = trimmed(word); !kept.empty()) words.push_back(kept);
    if (words.empty()) continue;
    const std::string where = name + " line " + std::to_string(number);
    OperatorSpec op;
    op.name = words[0];
    op.line = number;
    if (op.name.find("::") == std::string::npos) return parse_error("a line starts with ns::operator", where);
    LineParser parser(where, &op);
    for (size_t i = 1; i < words.size(); ++i)
      if (auto ok = parser.item(words[i]); !ok) return tl::unexpected(ok.error());
    if (auto ok = parser.finish(); !ok) return tl::unexpected(ok.error());
    const std::string key = op.name;
    spec[key].push_back(std::move(op));
  }
  return spec;
}

}  // namespace aotifuzz
