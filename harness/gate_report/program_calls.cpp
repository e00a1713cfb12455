#include "gate_report/program_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "package/op_name.h"
#include "package/size_relations.h"
#include "store/op_spec.h"

namespace aotifuzz {
namespace {

using Kind = Argument::Kind;

/// "torch.ops.my.pad.default" -> "my::pad"; "" for what is no operator of a library.
std::string operator_of(const std::string& target) {
  if (!target.starts_with("torch.ops.")) return "";
  const std::string name(short_target(target));
  const size_t dot = name.find('.'), last = name.rfind('.');
  if (dot == std::string::npos || last == dot) return "";
  const std::string space = name.substr(0, dot), overload = name.substr(last + 1);
  if (space == "aten" || space == "prim" || space == "prims" || space == "higher_order") return "";
  return space + "::" + name.substr(dot + 1, last - dot - 1) + (overload == "default" ? "" : "." + overload);
}

/// What the contract says, over export's symbols in place of dimensions.
class SymbolLimits {
 public:
  explicit SymbolLimits(const PackageInfo& info) : info_(info) {
    for (const InputSpec& input : info.contract.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d)
        sizes_.emplace(input.name + ".size(" + std::to_string(d) + ")", input.sizes[d]);
    for (const Condition& condition : info.contract.conditions) {
      if (condition.expr.has_opaque()) continue;
      const Expr over_symbols = condition.expr.substitute([&](const std::string& name) -> std::optional<Expr> {
        const auto found = sizes_.find(name);
        return found == sizes_.end() ? std::nullopt : std::optional(found->second);
      });
      if (const Expr kept = canonical(over_symbols); !kept.is_constant()) conditions_.push_back(over_symbols);
    }
  }

  /// Bounds of the symbols that `op` has, and the conditions that are about no others.
  void add_to(OperatorSpec* op) const {
    for (SpecSymbol& symbol : op->symbols) add_range(&symbol);
    for (const Expr& condition : conditions_) {
      std::set<std::string> names;
      condition.collect_symbols(names);
      const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(op->symbols.begin(), op->symbols.end(), [&](const SpecSymbol& s) { return s.name == name; });
      });
      if (known && !is_bound(condition, op)) op->conditions.push_back(condition);
    }
  }

 private:
  void add_range(SpecSymbol* symbol) const {
    for (const SymbolSpec& known : info_.contract.symbols)
      if (known.name == symbol->name) {
        symbol->min = std::max<int64_t>(known.min, 0);
        symbol->max = known.max.value_or(symbol->max);
        return;
      }
    const auto range = info_.program->range_constraints.find(symbol->name);
    if (range == info_.program->range_constraints.end()) return;
    const int64_t min = range->second.min.value_or(0);
    symbol->min = min == 2 ? 0 : std::max<int64_t>(min, 0);
    symbol->max = range->second.max.value_or(symbol->max);
  }

  /// S >= 3 and S % 8 == 0 are said as bounds, so that sizes are drawn which meet them.
  static bool is_bound(const Expr& condition, OperatorSpec* op) {
    const auto symbol_of = [&](const std::string& name) -> SpecSymbol& { return op->symbols[op->symbol_index(name)]; };
    if (const auto bound = linear_bound(condition)) {
      SpecSymbol& symbol = symbol_of(bound->dimension);
      if (bound->lower)
        symbol.min = std::max(symbol.min, bound->limit);
      else
        symbol.max = std::min(symbol.max, bound->limit);
      return true;
    }
    if (condition.op() != ExprOp::kEq) return false;
    for (const int side : {0, 1}) {
      const Expr &mod = condition.args()[side], &zero = condition.args()[1 - side];
      if (mod.op() != ExprOp::kMod || !zero.is_constant() || zero.value() != 0) continue;
      if (mod.args()[0].op() != ExprOp::kSymbol || !mod.args()[1].is_constant() || mod.args()[1].value() < 1) continue;
      SpecSymbol& symbol = symbol_of(mod.args()[0].name());
      if (symbol.multiple != 1) return false;
      symbol.multiple = mod.args()[1].value();
      return true;
    }
    return false;
  }

  const PackageInfo& info_;
  std::map<std::string, Expr> sizes_;  ///< of dimensions, by name
  std::vector<Expr> conditions_;
};

/// What keeps a call from being said in a spec.
struct Unsaid {
  std::string why;
};

/// One call being put into a spec's words. Throws Unsaid.
class CallWriter {
 public:
  CallWriter(const Graph& graph, OperatorSpec* op) : graph_(graph), op_(op) {}

  SpecValue value(const Argument& argument) {
    SpecValue out;
    switch (argument.kind) {
      case Kind::kNone:
        return out;
      case Kind::kTensor:
        out.kind = SpecValue::Kind::kTensor;
        out.tensors = {tensor(argument.name)};
        return out;
      case Kind::kInt:
        out.kind = SpecValue::Kind::kInt;
        out.integer = argument.integer;
        return out;
      case Kind::kFloat:
        out.kind = SpecValue::Kind::kFloat;
        out.real = argument.real;
        return out;
      case Kind::kBool:
        out.kind = SpecValue::Kind::kBool;
        out.integer = argument.boolean;
        return out;
      case Kind::kString:
        out.kind = SpecValue::Kind::kText;
        out.text = argument.name;
        if (out.text.find_first_of("\"\n\r") != std::string::npos)
          throw Unsaid{"is a text with quotation marks or several lines"};
        return out;
      case Kind::kSymInt:
        return number(sym_int(argument.name));
      case Kind::kScalarType: {
        out.kind = SpecValue::Kind::kDtype;
        const auto dtype = dtype_from_schema(argument.integer);
        if (!dtype || *dtype == Dtype::kUnknown) throw Unsaid{"is a dtype without a name here"};
        out.dtype = *dtype;
        return out;
      }
      case Kind::kList:
        return list(argument);
      case Kind::kSymFloat:
      case Kind::kSymBool:
        throw Unsaid{"is computed from sizes, and is none"};
      case Kind::kComplex:
        throw Unsaid{"is a complex number"};
      case Kind::kMemoryFormat:
      case Kind::kLayout:
        throw Unsaid{"is a memory format or layout"};
      case Kind::kDevice:
        throw Unsaid{"is a device"};
      case Kind::kGraph:
        throw Unsaid{"is a graph"};
      case Kind::kCustomObj:
        throw Unsaid{"is an object of a class of its own"};
      case Kind::kOperator:
        throw Unsaid{"is an operator"};
      case Kind::kDict:
        throw Unsaid{"is a dictionary"};
      case Kind::kUnknown:
        throw Unsaid{"is of a kind that is not read (" + argument.name + ")"};
    }
    return out;
  }

 private:
  SpecSize size(const Expr& e) {
    SpecSize out;
    if (e.is_constant()) {
      out.add = e.value();
      return out;
    }
    if (e.has_opaque()) throw Unsaid{"has a size that is no integer expression, " + e.text()};
    std::set<std::string> names;
    e.collect_symbols(names);
    for (const std::string& name : names) op_->symbol_index(name);
    const auto plain = affine(e);
    if (plain && plain->factor >= 1 && (plain->factor == 1 || plain->constant == 0)) {
      out.symbol = op_->symbol_index(plain->name);
      out.factor = plain->factor;
      out.add = plain->constant;
    } else {
      out.formula = e;
    }
    return out;
  }

  SpecValue number(const Expr& e) {
    SpecValue out;
    if (e.is_constant()) {
      out.kind = SpecValue::Kind::kInt;
      out.integer = e.value();
      return out;
    }
    out.kind = SpecValue::Kind::kSymbol;
    out.sizes = {size(e)};
    return out;
  }

  const Expr& sym_int(const std::string& name) const {
    const auto found = graph_.sym_ints.find(name);
    if (found == graph_.sym_ints.end()) throw Unsaid{"is a size that the graph does not declare"};
    return found->second;
  }

  SpecTensor tensor(const std::string& name) {
    const auto found = graph_.tensors.find(name);
    if (found == graph_.tensors.end()) throw Unsaid{"is a tensor that the graph does not declare"};
    const TensorMeta& meta = found->second;
    constexpr int kStrided = 7;
    if (meta.layout != kStrided) throw Unsaid{"is no strided tensor"};
    if (meta.dtype == Dtype::kUnknown) throw Unsaid{"is a tensor of a dtype without a name here"};
    SpecTensor out{.dtype = meta.dtype};
    for (const SymDim& dim : meta.sizes) out.sizes.push_back(size(dim));
    return out;
  }

  SpecValue list(const Argument& argument) {
    SpecValue out;
    const Kind element = argument.items.empty() ? argument.element_kind : argument.items[0].kind;
    if (argument.element_kind == Kind::kTensor) {
      out.kind = SpecValue::Kind::kTensors;
      for (const Argument& item : argument.items) {
        if (item.kind != Kind::kTensor) throw Unsaid{"is a list of tensors with None in it"};
        out.tensors.push_back(tensor(item.name));
      }
      return out;
    }
    if (argument.items.empty() || element == Kind::kInt || element == Kind::kSymInt) {
      out.kind = SpecValue::Kind::kSizes;
      for (const Argument& item : argument.items) {
        if (item.kind != Kind::kInt && item.kind != Kind::kSymInt) throw Unsaid{"is a list of different things"};
        out.sizes.push_back(item.kind == Kind::kInt ? SpecSize{.add = item.integer} : size(sym_int(item.name)));
      }
      return out;
    }
    out.kind = SpecValue::Kind::kList;
    for (const Argument& item : argument.items) {
      if (item.kind != Kind::kFloat && item.kind != Kind::kBool && item.kind != Kind::kString)
        throw Unsaid{"is a list of what has no words in a spec"};
      out.items.push_back(value(item));
    }
    return out;
  }

  const Graph& graph_;
  OperatorSpec* op_;
};

void raise_to_one(const SpecSize& number, OperatorSpec* op) {
  std::set<std::string> names;
  if (number.formula) number.formula->collect_symbols(names);
  if (number.symbol >= 0) names.insert(op->symbols[number.symbol].name);
  for (const std::string& name : names) {
    SpecSymbol& symbol = op->symbols[op->symbol_index(name)];
    symbol.min = std::max<int64_t>(symbol.min, 1);
  }
}

ProgramCall call_at(const Node& node, const Graph& graph, const std::string& name, const SymbolLimits& limits) {
  ProgramCall out{.op = name, .node = node.name, .line = "", .why_not = ""};
  OperatorSpec op;
  std::string line = name;
  for (const Node::Input& input : node.inputs) {
    std::vector<SpecValue> values;
    try {
      values.push_back(CallWriter(graph, &op).value(input.value));
    } catch (const Unsaid& unsaid) {
      out.why_not = "argument `" + input.name + "` " + unsaid.why;
      return out;
    }
    op.arguments.emplace(input.name, std::move(values));
  }
  limits.add_to(&op);
  // Export's assumption about sizes says nothing of a number that an argument is given: a size may be 0, a count of
  // heads is at least 1, as wherever a spec says nothing else.
  std::vector<bool> given(op.symbols.size(), false);
  for (const auto& [argument, values] : op.arguments) {
    if (values[0].kind != SpecValue::Kind::kSymbol) continue;
    raise_to_one(values[0].sizes[0], &op);
    if (values[0].sizes[0].symbol >= 0) given[values[0].sizes[0].symbol] = true;
  }
  for (const Node::Input& input : node.inputs)
    line += " " + input.name + "=" + value_text(op.arguments.at(input.name)[0], op.symbols);
  line += limits_text(op.symbols, op.conditions, given);
  // Whatever the words cannot hold shows here and not in the worker.
  const auto read = parse_op_spec(line, "a call");
  if (read)
    out.line = std::move(line);
  else
    out.why_not = read.error().what;
  return out;
}

void collect(const Graph& graph, const SymbolLimits& limits, std::vector<ProgramCall>* out) {
  for (const Node& node : graph.nodes) {
    if (const std::string name = operator_of(node.target); !name.empty())
      out->push_back(call_at(node, graph, name, limits));
    for (const Node::Input& input : node.inputs)
      if (input.value.graph) collect(*input.value.graph, limits, out);
  }
}

}  // namespace

ProgramCalls calls_of(const PackageInfo& info) {
  if (!info.program)
    throw HarnessError("the package has no exported program, so that its calls are not known", info.path,
                       "pack it with aotifuzz pack, which keeps the program, or give torch.export.save's archive");
  ProgramCalls out{.package = info.path, .calls = {}};
  collect(info.program->graph, SymbolLimits(info), &out.calls);
  return out;
}

}  // namespace aotifuzz
