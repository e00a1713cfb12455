#include "package/inspect_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "package/assumed_sizes.h"
#include "package/compile_trace_report.h"
#include "package/size_relations.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

std::string join(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}

std::string_view role_name(ValueRole::Kind kind) {
  switch (kind) {
    case ValueRole::Kind::kPlain:
      return "plain";
    case ValueRole::Kind::kIndex:
      return "index";
    case ValueRole::Kind::kMask:
      return "mask";
    case ValueRole::Kind::kOffsets:
      return "offsets";
    case ValueRole::Kind::kSorted:
      return "sorted";
    case ValueRole::Kind::kDivisor:
      return "divisor";
    case ValueRole::Kind::kShift:
      return "shift";
    case ValueRole::Kind::kCount:
      return "count";
  }
  return "plain";
}

std::string_view condition_kind_name(Condition::Kind kind) {
  switch (kind) {
    case Condition::Kind::kSize:
      return "size";
    case Condition::Kind::kRange:
      return "range";
    default:
      return "guard";
  }
}

std::string_view scalar_name(CaseInput::Kind kind) {
  switch (kind) {
    case CaseInput::Kind::kInt:
      return "int";
    case CaseInput::Kind::kFloat:
      return "float";
    case CaseInput::Kind::kBool:
      return "bool";
    default:
      return "none";
  }
}

std::string number_text(const Number& number) {
  if (const int64_t* integer = std::get_if<int64_t>(&number)) return std::to_string(*integer);
  return std::to_string(std::get<double>(number));
}

// A size shows its own symbol; other expressions show the dimensions that decide them.
std::string size_text(const Contract& contract, const Expr& size, const std::string& own_name) {
  const std::string text = dimension_text(contract, size);
  return text == own_name ? size.text() : text;
}

std::vector<std::string> size_texts(const Contract& contract, const InputSpec& input) {
  std::vector<std::string> out;
  for (size_t d = 0; d < input.sizes.size(); ++d)
    out.push_back(size_text(contract, input.sizes[d], input.name + ".size(" + std::to_string(d) + ")"));
  return out;
}

std::vector<std::string> stride_texts(const Contract& contract, const InputSpec& input) {
  std::vector<std::string> out;
  for (size_t d = 0; d < input.strides.size(); ++d)
    out.push_back(size_text(contract, input.strides[d], input.name + ".stride(" + std::to_string(d) + ")"));
  return out;
}

std::string role_text(const ValueRole& role) {
  std::string out(role_name(role.kind));
  if (role.bound) out += (role.kind == ValueRole::Kind::kOffsets ? " up to " : " below ") + role.bound->text();
  return out + " (" + role.op + ")";
}

std::string bounds_text(const ContractBounds::SymbolBounds& bounds) {
  std::string out = bounds.dim + ": " + std::to_string(bounds.min) + " to " +
                    (bounds.max ? std::to_string(*bounds.max) : std::string("unbounded"));
  if (bounds.step > 1) out += ", " + std::to_string(bounds.residue) + " modulo " + std::to_string(bounds.step);
  return bounds.symbol.empty() ? out : out + "   [" + bounds.symbol + "]";
}

void print_list(std::ostream& out, const char* title, const std::vector<std::string>& lines, const char* none) {
  out << title << "\n";
  if (lines.empty()) out << "  " << none << "\n";
  for (const std::string& line : lines) out << "  " << line << "\n";
}

std::vector<std::string> check_lines(const PackageInfo& package) {
  std::vector<std::string> out;
  if (package.compiled)
    for (const InputCheck& check : package.compiled->checks) out.push_back(check.text);
  return out;
}

std::vector<std::string> unchecked_strides(const PackageInfo& package) {
  std::vector<std::string> out;
  for (const InputSpec& input : package.contract.inputs)
    for (size_t d = 0; d < input.strides.size(); ++d)
      if (!input.strides[d].is_constant()) out.push_back(input.name + ".stride(" + std::to_string(d) + ")");
  return out;
}

}  // namespace

std::string dimension_text(const Contract& contract, const Expr& expr) {
  return expr
      .substitute([&](const std::string& name) {
        for (const SymbolSpec& symbol : contract.symbols)
          if (symbol.name == name && !symbol.dim.empty()) return std::optional(Expr::symbol(symbol.dim));
        return std::optional<Expr>();
      })
      .text();
}

std::vector<std::string> unchecked_conditions(const PackageInfo& package) {
  std::set<std::string> enforced;
  for (const std::string& line : check_lines(package)) enforced.insert(line);
  const std::vector<SizeAssumption> assumed = size_assumptions(package);
  for (const SizeAssumption& one : assumed) enforced.insert(one.text());
  // Which of two equal dimensions is compared with which is the compiler's choice.
  const auto is_compared = [&](const std::string& dim) {
    return std::any_of(assumed.begin(), assumed.end(),
                       [&](const auto& one) { return one.dim == dim && !one.other.empty() && one.declared; });
  };
  std::vector<std::string> out;
  for (const Condition& condition : package.contract.conditions) {
    bool checked = enforced.contains(condition.text);
    if (const Expr& e = condition.expr;
        condition.kind == Condition::Kind::kSize && e.op() == ExprOp::kEq && e.args()[1].op() == ExprOp::kSymbol)
      checked |= is_compared(e.args()[0].text()) || is_compared(e.args()[1].text());
    // A declared bound is enforced by a compiled one that is at least as tight.
    if (const std::optional<LinearBound> bound = linear_bound(condition.expr); bound && package.compiled)
      for (const InputCheck& check : package.compiled->checks) {
        const bool lower = check.kind == InputCheck::Kind::kMinSize, upper = check.kind == InputCheck::Kind::kMaxSize;
        const bool same = check.text.starts_with(bound->dimension + " ");
        checked |= same && ((lower && bound->lower && check.value >= bound->limit) ||
                            (upper && !bound->lower && check.value <= bound->limit));
      }
    if (!checked) out.push_back(condition.text);
  }
  return out;
}

std::vector<std::string> undeclared_checks(const PackageInfo& package) {
  std::vector<std::string> out;
  if (!package.compiled || !package.contract.declared) return out;
  for (const InputCheck& check : package.compiled->checks) {
    const bool lower = check.kind == InputCheck::Kind::kMinSize, upper = check.kind == InputCheck::Kind::kMaxSize;
    if (!lower && !upper) continue;
    bool declared = false;
    for (const Condition& condition : package.contract.conditions) {
      const std::optional<LinearBound> bound = linear_bound(condition.expr);
      if (!bound || !check.text.starts_with(bound->dimension + " ") || bound->lower != lower) continue;
      declared |= lower ? bound->limit >= check.value : bound->limit <= check.value;
    }
    // A dimension that equals another one has that one's bounds.
    for (const Condition& condition : package.contract.conditions) {
      const Expr& e = condition.expr;
      if (condition.kind != Condition::Kind::kSize || e.op() != ExprOp::kEq || e.args()[1].op() != ExprOp::kSymbol)
        continue;
      if (!check.text.starts_with(e.args()[0].text() + " ")) continue;
      for (const Condition& other : package.contract.conditions) {
        const std::optional<LinearBound> bound = linear_bound(other.expr);
        if (!bound || bound->dimension != e.args()[1].name() || bound->lower != lower) continue;
        declared |= lower ? bound->limit >= check.value : bound->limit <= check.value;
      }
    }
    if (!declared) out.push_back(check.text);
  }
  for (const SizeAssumption& one : size_assumptions(package))
    if (!one.declared) out.push_back(one.text());
  return out;
}

void print_inspect_text(const PackageInfo& package, const ContractBounds& bounds, std::ostream& out) {
  const Contract& contract = package.contract;
  out << package.path << "  (" << package.bytes << " bytes)\n";
  if (package.is_library)
    out << "library     bare library of the deprecated aot_compile"
        << (package.program || !package.compiled->input_names.empty() ? "\n" : "; its inputs are not known\n");
  out << "models      " << join(package.models) << "\n";
  if (package.compiled) {
    const CompiledModel& compiled = *package.compiled;
    out << "compiled    " << compiled.name << " for "
        << (compiled.device.empty() ? "an unknown device" : compiled.device);
    if (!compiled.cpu_isa.empty()) out << ", " << compiled.cpu_isa;
    if (!compiled.compute_capability.empty()) out << ", compute capability " << compiled.compute_capability;
    out << "\n";
  }
  if (package.program) {
    out << "reference   ExportedProgram '" << package.program->model_name << "', schema "
        << package.program->schema_major << "." << package.program->schema_minor << ", torch "
        << package.program->torch_version << ", " << package.program->graph.nodes.size() << " nodes, "
        << package.program->weights.size() << " weights";
    if (package.program_path != package.path) out << ", from " << package.program_path;
    out << "\n";
  }
  if (package.pack)
    out << "packed by   aotifuzz_pack " << package.pack->version << ", torch " << package.pack->torch_version
        << (package.pack->recipe_function.empty() ? "" : ", recipe " + package.pack->recipe_function) << "\n";

  std::vector<std::string> inputs;
  for (const InputSpec& input : contract.inputs) {
    std::string line = input.name + "  ";
    if (input.kind == CaseInput::Kind::kTensor) {
      line += std::string(dtype_name(input.dtype)) + "[" + join(size_texts(contract, input)) + "]  strides (" +
              join(stride_texts(contract, input)) + ")  " + input.device;
      if (input.mutated) line += "  written by the program";
      if (input.role.kind != ValueRole::Kind::kPlain) line += "  " + role_text(input.role);
    } else {
      line += scalar_name(input.kind);
      if (input.is_constant) line += " fixed at " + number_text(input.constant);
    }
    inputs.push_back(std::move(line));
  }
  print_list(out, "inputs", inputs, "none");
  std::vector<std::string> ranges;
  for (const ContractBounds::SymbolBounds& symbol : bounds.symbols)
    if (!symbol.dim.empty()) ranges.push_back(bounds_text(symbol));
  print_list(out, contract.declared ? "free dimensions" : "free dimensions (from the compiled checks)", ranges, "none");
  std::vector<std::string> conditions;
  for (const Condition& condition : contract.conditions) conditions.push_back(condition.text);
  print_list(out, contract.declared ? "contract" : "contract (from the compiled checks)", conditions, "no condition");
  if (package.compiled) {
    print_list(out, "input checks compiled in (run with AOTI_RUNTIME_CHECK_INPUTS=1)", check_lines(package), "none");
    std::vector<std::string> unchecked = unchecked_conditions(package);
    for (const std::string& stride : unchecked_strides(package)) unchecked.push_back(stride + " as exported");
    print_list(out, "declared but not checked", unchecked, "nothing");
    print_list(out, "checked but not declared (legal inputs are refused)", undeclared_checks(package), "nothing");
    std::vector<std::string> kernels, externs, constants;
    for (const KernelInfo& kernel : package.compiled->kernels) {
      std::string line = kernel.name + "  x" + std::to_string(kernel.calls);
      if (!kernel.post_grad_nodes.empty()) line += "  from " + join(kernel.post_grad_nodes);
      (kernel.is_extern ? externs : kernels).push_back(std::move(line));
    }
    for (const CompiledModel::Constant& constant : package.compiled->constants) {
      std::vector<std::string> sizes;
      for (int64_t size : constant.sizes) sizes.push_back(std::to_string(size));
      constants.push_back(constant.fqn + "  " + std::string(dtype_name(constant.dtype)) + "[" + join(sizes) + "]  " +
                          std::to_string(constant.bytes) + " bytes");
    }
    print_list(out, "kernels", kernels, "none");
    print_list(out, "extern calls", externs, "none");
    print_list(out, "constants", constants, "none");
  }
  print_list(out, "not judged, and why", package.missing, "nothing");
  if (!bounds.notes.empty()) print_list(out, "notes", bounds.notes, "");
}

std::string inspect_json(const PackageInfo& package, const ContractBounds& bounds, const CompileTrace* trace) {
  const Contract& contract = package.contract;
  ordered_json root;
  root["path"] = package.path;
  root["bytes"] = package.bytes;
  root["is_library"] = package.is_library;
  root["models"] = package.models;
  if (package.compiled) {
    const CompiledModel& compiled = *package.compiled;
    ordered_json& out = root["compiled"];
    out["name"] = compiled.name;
    out["device"] = compiled.device;
    out["cpu_isa"] = compiled.cpu_isa;
    out["compute_capability"] = compiled.compute_capability;
    out["inputs"] = compiled.input_names;
    out["outputs"] = compiled.output_names;
    out["checks"] = check_lines(package);
    out["unchecked"] = unchecked_conditions(package);
    out["unchecked_strides"] = unchecked_strides(package);
    out["undeclared"] = undeclared_checks(package);
    out["symbols"] = compiled.symbol_dims;
    out["kernels"] = ordered_json::array();
    for (const KernelInfo& kernel : compiled.kernels)
      out["kernels"].push_back({{"name", kernel.name},
                                {"extern", kernel.is_extern},
                                {"calls", kernel.calls},
                                {"post_grad_nodes", kernel.post_grad_nodes},
                                {"pre_grad_nodes", kernel.pre_grad_nodes}});
    out["constants"] = ordered_json::array();
    for (const CompiledModel::Constant& constant : compiled.constants)
      out["constants"].push_back({{"name", constant.name},
                                  {"fqn", constant.fqn},
                                  {"dtype", dtype_name(constant.dtype)},
                                  {"sizes", constant.sizes},
                                  {"bytes", constant.bytes}});
  }
  if (package.program)
    root["reference"] = {
        {"path", package.program_path},
        {"model", package.program->model_name},
        {"schema", std::to_string(package.program->schema_major) + "." + std::to_string(package.program->schema_minor)},
        {"torch", package.program->torch_version},
        {"nodes", package.program->graph.nodes.size()},
        {"weights", package.program->weights.size()}};
  if (package.pack)
    root["pack"] = {{"version", package.pack->version},
                    {"torch", package.pack->torch_version},
                    {"recipe", package.pack->recipe_function}};
  root["declared"] = contract.declared;
  root["inputs"] = ordered_json::array();
  for (const InputSpec& input : contract.inputs) {
    ordered_json one = {{"name", input.name}};
    if (input.kind == CaseInput::Kind::kTensor) {
      one["dtype"] = dtype_name(input.dtype);
      one["device"] = input.device;
      one["sizes"] = size_texts(contract, input);
      one["strides"] = stride_texts(contract, input);
      one["mutated"] = input.mutated;
      one["role"] = role_name(input.role.kind);
      if (input.role.bound) one["role_bound"] = input.role.bound->text();
      if (!input.role.op.empty()) one["role_op"] = input.role.op;
    } else {
      one["kind"] = scalar_name(input.kind);
      if (input.is_constant) one["constant"] = number_text(input.constant);
    }
    root["inputs"].push_back(std::move(one));
  }
  root["dimensions"] = ordered_json::array();
  for (const ContractBounds::SymbolBounds& symbol : bounds.symbols) {
    if (symbol.dim.empty()) continue;
    ordered_json one = {{"dim", symbol.dim}, {"symbol", symbol.symbol}, {"min", symbol.min}};
    one["max"] = symbol.max ? ordered_json(*symbol.max) : ordered_json(nullptr);
    one["step"] = symbol.step;
    one["residue"] = symbol.residue;
    one["landmarks"] = symbol.landmarks;
    root["dimensions"].push_back(std::move(one));
  }
  root["conditions"] = ordered_json::array();
  for (size_t i = 0; i < contract.conditions.size(); ++i) {
    ordered_json one = {{"kind", condition_kind_name(contract.conditions[i].kind)},
                        {"text", contract.conditions[i].text}};
    for (const ContractBounds::Breaking& breaking : bounds.breaking)
      if (breaking.condition == static_cast<int>(i)) one["broken_by"] = breaking.assignments;
    root["conditions"].push_back(std::move(one));
  }
  root["not_judged"] = package.missing;
  root["notes"] = bounds.notes;
  if (trace) root["compile_time_trace"] = compile_trace_json(*trace);
  // Names come from the archive and may be any bytes: invalid UTF-8 is replaced, never an exception.
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace aotifuzz
