#include "package/input_guard.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "package/inspect_report.h"
#include "package/size_relations.h"

namespace aotifuzz {
namespace {

constexpr const char* kOnlyTheCaller = "nothing in the model states it: check it before the call";

std::string check_cpp(const std::string& condition, const std::string& says) {
  return "TORCH_CHECK(" + condition + ", \"" + says + "\");";
}

std::string joined(const Expr& expr, const char* between) {
  std::string out;
  for (const Expr& arg : expr.args()) {
    const std::string text = cpp_text(arg);
    if (text.empty()) return "";
    out += (out.empty() ? "" : between) + text;
  }
  return "(" + out + ")";
}

std::string called(const Expr& expr, const std::string& function) {
  const std::string text = joined(expr, ", ");
  return text.empty() ? "" : function + text;
}

/// Sizes, strides and offsets are not; a scalar's value may be.
bool may_be_negative(const Expr& e) {
  if (e.op() == ExprOp::kInt) return e.value() < 0;
  if (e.op() == ExprOp::kSymbol) return !e.name().ends_with(")");
  return e.op() == ExprOp::kNeg || e.args().empty() ||
         std::any_of(e.args().begin(), e.args().end(), [](const Expr& arg) { return may_be_negative(arg); });
}

/// Division that rounds down, as Python's does. C++'s rounds towards zero: (n - 1) / 32 of n = 0 would be 0.
std::string division(const Expr& e) {
  return may_be_negative(e) ? called(e, "c10::div_floor_integer<int64_t>") : joined(e, " / ");
}

/// What Python's division leaves, which has the sign of the divisor.
std::string remainder(const Expr& e) {
  const std::string plain = joined(e, " % ");
  if (plain.empty() || !may_be_negative(e)) return plain;
  const std::string by = cpp_text(e.args()[1]);
  return "((" + plain + " + " + by + ") % " + by + ")";
}

/// "x.size(1)" -> ("x", 1); none for a stride, an offset or a scalar.
std::optional<std::pair<std::string, int>> size_of(const std::string& name) {
  const size_t at = name.rfind(".size(");
  if (at == std::string::npos || !name.ends_with(")")) return std::nullopt;
  int dim = 0;
  const char* end = name.data() + name.size() - 1;
  const auto [stopped, error] = std::from_chars(name.data() + at + 6, end, dim);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return std::pair(name.substr(0, at), dim);
}

/// The size that the condition gives a dimension; none when it is no such condition.
std::optional<int64_t> fixed_size(const Expr& condition, std::string* dim) {
  if (condition.op() != ExprOp::kEq || condition.args()[0].op() != ExprOp::kSymbol ||
      !condition.args()[1].is_constant())
    return std::nullopt;
  *dim = condition.args()[0].name();
  return condition.args()[1].value();
}

/// A size of one input that must be an expression of sizes of others: comparing them in the program would tell the
/// compiler that they are equal, and then it drops the comparison. A size read as data is one that it does not know.
bool compare_as_data(const Expr& condition, AuditGuard* guard) {
  if (condition.op() != ExprOp::kEq || condition.args()[0].op() != ExprOp::kSymbol) return false;
  const auto dim = size_of(condition.args()[0].name());
  std::set<std::string> others;
  condition.args()[1].collect_symbols(others);
  const bool elsewhere = std::any_of(others.begin(), others.end(),
                                     [&](const std::string& name) { return name != condition.args()[0].name(); });
  if (!dim || !elsewhere) return false;
  const std::string& x = dim->first;
  const std::string d = std::to_string(dim->second);
  guard->python = {"n = torch.scalar_tensor(" + x + ".size(" + d + "), dtype=torch.int64).item()",
                   "torch._check(n == " + condition.args()[1].text() + ")",
                   x + " = " + x + ".index_select(" + d + ", torch.arange(n, device=" + x + ".device))"};
  return true;
}

/// Export takes every dynamic size for 2 or more, so it drops a comparison with less. A size read as data it keeps.
bool bound_as_data(const Expr& condition, AuditGuard* guard) {
  constexpr int64_t kAssumed = 2;
  const std::optional<LinearBound> bound = linear_bound(condition);
  const bool lower = bound && bound->lower && bound->limit <= kAssumed;
  const bool unequal = condition.op() == ExprOp::kNe && condition.args()[0].op() == ExprOp::kSymbol &&
                       condition.args()[1].is_constant() && condition.args()[1].value() < kAssumed;
  if (!lower && !unequal) return false;
  const auto dim = size_of(lower ? bound->dimension : condition.args()[0].name());
  if (!dim) return false;
  const std::string check =
      lower ? "n >= " + std::to_string(bound->limit) : "n != " + std::to_string(condition.args()[1].value());
  guard->python = {
      "n = torch.scalar_tensor(" + dim->first + ".size(" + std::to_string(dim->second) + "), dtype=torch.int64).item()",
      "torch._check(" + check + ")"};
  return true;
}

std::string scalar_type(Dtype dtype) {
  const std::string name(dtype_torch_name(dtype));  // "torch.float32"
  std::string rest = name.substr(name.find('.') + 1);
  if (!rest.empty()) rest[0] = static_cast<char>(std::toupper(rest[0]));
  if (rest.starts_with("Uint")) rest[1] = 'I';
  if (rest.starts_with("Bfloat")) rest[1] = 'F';
  return "torch::k" + rest;  // torch::kFloat32, kInt64, kBool, kUInt8, kBFloat16
}

/// Equal for any values of the symbols: tried with primes, since 32*s*16 and 512*s have several forms.
bool same_value(const Expr& one, const Expr& other) {
  static constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  for (size_t round = 0; round < 3; ++round) {
    const auto value = [round](const std::string& name) -> std::optional<int64_t> {
      size_t sum = round * 5;
      for (const char letter : name) sum = sum * 31 + static_cast<unsigned char>(letter);
      return kPrimes[sum % std::size(kPrimes)];
    };
    const std::optional<int64_t> a = one.evaluate(value), b = other.evaluate(value);
    if (!a || a != b) return false;
  }
  return true;
}

/// A symbol of the export means nothing where the guard is pasted.
bool names_a_symbol(const Contract& contract, const std::string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (const SymbolSpec& symbol : contract.symbols)
    for (size_t at = text.find(symbol.name); at != std::string::npos; at = text.find(symbol.name, at + 1)) {
      const size_t end = at + symbol.name.size();
      if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
    }
  return false;
}

AuditGuard stride_guard(const Contract& contract, const InputSpec& spec) {
  AuditGuard guard;
  guard.note = kOnlyTheCaller;
  bool dense = true;
  Expr expected = Expr::integer(1);
  for (size_t d = spec.sizes.size(); d-- > 0;) {
    dense &= same_value(spec.strides[d], expected);
    expected =
        expected == Expr::integer(1) ? spec.sizes[d] : Expr::make(ExprOp::kMul, {spec.sizes[d], spec.strides[d]});
  }
  if (dense) {
    guard.caller = "assert " + spec.name + ".is_contiguous()";
    guard.cpp = check_cpp(spec.name + ".is_contiguous()", spec.name + " must be dense");
    return guard;
  }
  std::string python, cpp;
  for (size_t d = 0; d < spec.strides.size(); ++d) {
    const std::string size = spec.name + ".size(" + std::to_string(d) + ")";
    const std::string stride = spec.name + ".stride(" + std::to_string(d) + ") == ";
    const std::string wanted = dimension_text(contract, spec.strides[d]);
    if (wanted == spec.name + ".stride(" + std::to_string(d) + ")") continue;
    if (names_a_symbol(contract, wanted)) {
      guard.note = "its strides depend on what no size of an input states: no guard can be written";
      return guard;
    }
    python += (python.empty() ? "" : " and ") + ("(" + size + " < 2 or " + stride + wanted + ")");
    cpp += (cpp.empty() ? "" : " && ") + ("(" + size + " < 2 || " + stride + wanted + ")");
  }
  guard.caller = "assert " + python;
  guard.cpp = check_cpp(cpp, spec.name + " must have the strides that were exported");
  return guard;
}

std::string number_text(const Number& number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return std::to_string(*integer);
  return std::to_string(std::get<double>(number));
}

}  // namespace

std::string cpp_text(const Expr& e) {
  switch (e.op()) {
    case ExprOp::kInt:
      return std::to_string(e.value());
    case ExprOp::kSymbol:
      return e.name();
    case ExprOp::kAdd:
      return joined(e, " + ");
    case ExprOp::kMul:
      return joined(e, " * ");
    case ExprOp::kNeg:
      return "-" + joined(e, "");
    case ExprOp::kFloorDiv:
      return division(e);
    case ExprOp::kMod:
      return remainder(e);
    case ExprOp::kMax:
      return e.args().size() == 2 ? called(e, "std::max<int64_t>") : "";
    case ExprOp::kMin:
      return e.args().size() == 2 ? called(e, "std::min<int64_t>") : "";
    case ExprOp::kEq:
      return joined(e, " == ");
    case ExprOp::kNe:
      return joined(e, " != ");
    case ExprOp::kLt:
      return joined(e, " < ");
    case ExprOp::kLe:
      return joined(e, " <= ");
    case ExprOp::kGt:
      return joined(e, " > ");
    case ExprOp::kGe:
      return joined(e, " >= ");
    case ExprOp::kAnd:
      return joined(e, " && ");
    case ExprOp::kOr:
      return joined(e, " || ");
    case ExprOp::kNot:
      return "!" + joined(e, "");
    default:
      return "";
  }
}

AuditGuard guard_of_condition(const Contract& contract, const Expr& condition) {
  AuditGuard guard;
  const std::string text = condition.text();
  std::set<std::string> names;
  condition.collect_symbols(names);
  for (const std::string& name : names)
    if (const auto dim = size_of(name)) guard.automatic.push_back(*dim);
  if (!bound_as_data(condition, &guard) && !compare_as_data(condition, &guard))
    guard.python = {"torch._check(" + text + ")"};
  guard.caller = "assert " + text;
  if (std::string cpp = cpp_text(condition); !cpp.empty()) {
    if (cpp.front() == '(') cpp = cpp.substr(1, cpp.size() - 2);  // of the outermost operator
    guard.cpp = check_cpp(cpp, text);
  }
  // Export pins a dimension whose example is 0 or 1, and no check of the size survives that.
  std::string dim;
  if (const auto fixed = fixed_size(condition, &dim); fixed && *fixed < 2 && size_of(dim)) {
    guard.python.clear();
    guard.example.push_back({*size_of(dim), 3});
    guard.note = "export pins " + dim + " because its example is " + std::to_string(*fixed) +
                 ": give an example of 2 or more and let it be dynamic, or check it before the call";
  } else if (!guard.python.empty()) {
    guard.note = "stays in the package when exported with prefer_deferred_runtime_asserts_over_guards=True";
  }
  return guard;
}

std::string index_condition(const InputSpec& spec) {
  if (spec.role.kind != ValueRole::Kind::kIndex || !spec.role.bound) return "";
  const std::string last =
      spec.role.bound->is_constant() ? std::to_string(spec.role.bound->value() - 1) : spec.role.bound->text() + " - 1";
  return spec.name + ": values from 0 to " + last;
}

AuditGuard guard_of_index(const Contract& contract, const std::string& item) {
  AuditGuard guard;
  for (const InputSpec& spec : contract.inputs) {
    if (index_condition(spec) != item) continue;
    const std::string& x = spec.name;
    const std::string bound = spec.role.bound->text(), cpp = cpp_text(*spec.role.bound);
    guard.python = {"torch._assert_async(((" + x + " >= 0) & (" + x + " < " + bound + ")).all(), \"" + item + "\")"};
    guard.caller = "assert bool(((" + x + " >= 0) & (" + x + " < " + bound + ")).all())";
    if (!cpp.empty()) guard.cpp = check_cpp("((" + x + " >= 0) & (" + x + " < " + cpp + ")).all().item<bool>()", item);
  }
  return guard;
}

AuditGuard guard_against(const Contract& contract, const Violation& violation) {
  AuditGuard guard;
  guard.note = kOnlyTheCaller;
  const InputSpec* spec = violation.input >= 0 ? &contract.inputs[static_cast<size_t>(violation.input)] : nullptr;
  switch (violation.kind) {
    case Condition::Kind::kSize:
    case Condition::Kind::kRange:
    case Condition::Kind::kGuard:
      for (const Condition& condition : contract.conditions)
        if (condition.text == violation.text) return guard_of_condition(contract, condition.expr);
      break;
    case Condition::Kind::kStride:
    case Condition::Kind::kOffset:
      return stride_guard(contract, *spec);
    case Condition::Kind::kDtype:
      guard.caller = "assert " + spec->name + ".dtype == " + std::string(dtype_torch_name(spec->dtype));
      guard.cpp = check_cpp(spec->name + ".scalar_type() == " + scalar_type(spec->dtype), violation.text);
      break;
    case Condition::Kind::kRank:
      guard.caller = "assert " + violation.text;
      guard.cpp = check_cpp(violation.text, violation.text);
      break;
    case Condition::Kind::kZeroTensor:
      guard.caller = "assert not " + spec->name + "._is_zerotensor()";
      guard.cpp = check_cpp("!" + spec->name + "._is_zerotensor()", violation.text);
      break;
    case Condition::Kind::kOverlap: {
      // "y: shares no memory with x"
      const std::string earlier = violation.text.substr(violation.text.rfind(' ') + 1);
      guard.cpp = "at::assert_no_overlap(" + spec->name + ", " + earlier + ");  // <ATen/MemoryOverlap.h>";
      guard.caller =
          "assert " + spec->name + ".untyped_storage().data_ptr() != " + earlier + ".untyped_storage().data_ptr()";
      guard.python = {};
      guard.note += "; or clone one of them: " + spec->name + ".clone()";
      break;
    }
    case Condition::Kind::kScalar:
      guard.caller = "assert " + spec->name + " == " + number_text(spec->constant);
      guard.cpp = check_cpp(spec->name + " == " + number_text(spec->constant), violation.text);
      break;
    case Condition::Kind::kDevice: {
      const bool cuda = spec->device.starts_with("cuda");
      guard.caller = "assert " + spec->name + ".device.type == \"" + (cuda ? "cuda" : "cpu") + "\"";
      guard.cpp = check_cpp(spec->name + (cuda ? ".is_cuda()" : ".is_cpu()"), violation.text);
      break;
    }
    case Condition::Kind::kKind:
      if (spec) {
        guard.caller = "assert " + spec->name + " is not None";
        guard.cpp = check_cpp(spec->name + ".defined()", violation.text);
        break;
      }
      const std::string count =
          std::to_string(std::count_if(contract.inputs.begin(), contract.inputs.end(),
                                       [](const InputSpec& input) { return input.kind == CaseInput::Kind::kTensor; }));
      guard.caller = "assert len(inputs) == " + count + "  # tensors of the flattened arguments";
      guard.cpp = check_cpp("inputs.size() == " + count, "the package takes " + count + " tensors");
      break;
  }
  return guard;
}

}  // namespace aotifuzz
