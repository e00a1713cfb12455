#include "package/error_context.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "package/contract_bounds.h"
#include "package/index_context.h"
#include "package/inspect_report.h"
#include "package/kernel_flow.h"
#include "package/kernel_report.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

std::string captured(const RecognisedError& error, const char* name) {
  const auto found = error.captures.find(name);
  return found == error.captures.end() ? std::string() : found->second;
}

std::optional<int64_t> number(const RecognisedError& error, const char* name) {
  const std::string text = captured(error, name);
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string joined(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}

void add(Explanation* explanation, std::string name, std::string value) {
  if (!value.empty()) explanation->facts.emplace_back(std::move(name), std::move(value));
}

/// The dtype that c10's number means; schema codes are one more, but for bfloat16.
std::string dtype_of_code(int64_t code) {
  const auto dtype = dtype_from_schema(code == 15 ? 13 : code >= 0 && code <= 11 ? code + 1 : -1);
  return dtype ? std::string(dtype_name(*dtype)) : "dtype code " + std::to_string(code);
}

std::string device_of_code(const std::string& code) {
  if (code.starts_with("14")) return "meta";
  return code.starts_with("0") ? "cpu" : code.starts_with("1") ? "cuda" : "device type " + code;
}

const InputSpec* input_named(const PackageInfo& package, const std::string& name) {
  const int at = package.contract.find_input(name);
  return at < 0 ? nullptr : &package.contract.inputs[static_cast<size_t>(at)];
}

/// "x.size(0) (s77)" and what the contract says of it.
std::string add_dimension(const PackageInfo& package, const InputSpec& input, size_t dim, Explanation* out) {
  const std::string name = input.name + ".size(" + std::to_string(dim) + ")";
  if (dim >= input.sizes.size()) return name;
  const std::string symbol = input.sizes[dim].text();
  add(out, "dimension", name + (input.sizes[dim].is_constant() ? "" : " (" + symbol + ")"));
  if (input.sizes[dim].is_constant()) {
    add(out, "declared", "always " + symbol);
    return name;
  }
  constexpr int64_t kElementsMax = 1 << 20;  // as `inspect` has it
  const ContractBounds bounds = compute_bounds(package.contract, kElementsMax);
  for (const auto& one : bounds.symbols)
    if (one.symbol == symbol || one.dim == name)
      add(out, package.contract.declared ? "declared" : "checked",
          one.dim + " from " + std::to_string(one.min) + " to " + (one.max ? std::to_string(*one.max) : "any"));
  std::vector<std::string> same;
  for (const InputSpec& other : package.contract.inputs)
    for (size_t d = 0; d < other.sizes.size(); ++d)
      if (other.sizes[d].text() == symbol && !(other.name == input.name && d == dim))
        same.push_back(other.name + ".size(" + std::to_string(d) + ")");
  add(out, "must equal", joined(same));
  return name;
}

void add_input(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  const std::optional<int64_t> at = number(error, "input");
  const std::vector<std::string> names = compiled_input_names(package);
  if (!at || *at < 0 || static_cast<size_t>(*at) >= names.size()) {
    add(out, "input",
        "the package has " + std::to_string(names.size()) +
            " inputs, this is none of them: the text is of another package");
    return;
  }
  const std::string& name = names[static_cast<size_t>(*at)];
  add(out, "input", name + " (input_handles[" + std::to_string(*at) + "])");
  const InputSpec* input = input_named(package, name);
  const std::string id = error.pattern->id;
  std::string got = captured(error, "got"), what = name;
  if (id == "input-dtype") {
    add(out, "expected", input ? std::string(dtype_name(input->dtype)) : captured(error, "expected"));
    got = dtype_of_code(number(error, "got").value_or(-1));
  } else if (id == "input-device") {
    add(out, "expected",
        device_of_code(captured(error, "expected").substr(0, 2) == "14" ? "14" : captured(error, "expected")));
    got = device_of_code(got);
  } else if (const std::optional<int64_t> dim = number(error, "dim"); dim && *dim >= 0 && input) {
    what = add_dimension(package, *input, static_cast<size_t>(*dim), out);
    if (id == "input-stride") what = name + ".stride(" + std::to_string(*dim) + ")";
    for (const auto& [capture, sign] :
         {std::pair("expected", ""), std::pair("least", "at least "), std::pair("most", "at most ")})
      if (const std::string bound = captured(error, capture); !bound.empty()) add(out, "expected", sign + bound);
    if (!captured(error, "least").empty()) {
      const std::string check = what + " >= " + captured(error, "least");
      const std::vector<std::string> undeclared = undeclared_checks(package);
      if (std::find(undeclared.begin(), undeclared.end(), check) != undeclared.end()) {
        out->culprit =
            "the compiled check " + check +
            ", which is stricter than the declared range: the compiler assumes that a size is neither 0 nor 1";
        out->change =
            "leave AOTI_RUNTIME_CHECK_INPUTS unset for such inputs once `explain --case` says that the package is "
            "right "
            "for them; or export with a Dim whose min says so, or pad";
        add(out, "got", got);
        return;
      }
    }
  }
  add(out, "got", got);
  out->culprit = what + " is " + got + ": " + error.pattern->culprit;
}

void add_layout(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  const std::vector<std::string> names = compiled_input_names(package);
  if (std::string_view(error.pattern->id) == "input-count") {
    add(out, "inputs in order", joined(names));
    return;
  }
  std::vector<std::string> inputs, relations;
  if (package.compiled)
    for (const InputCheck& check : package.compiled->checks)
      if (check.kind == InputCheck::Kind::kLayer2 && static_cast<size_t>(check.input) < names.size())
        inputs.push_back(names[static_cast<size_t>(check.input)]);
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  add(out, "inputs with such a check", joined(inputs));
  for (const Condition& condition : package.contract.conditions)
    if (condition.kind == Condition::Kind::kSize || condition.kind == Condition::Kind::kGuard)
      relations.push_back(condition.text);
  add(out, "sizes must be so", joined(relations, "; "));
  // The text tells of every dimension that differs in size or stride: a size is what matters.
  std::string_view rest = error.text;
  for (size_t at = rest.find("expected size "); at != std::string_view::npos; at = rest.find("expected size ")) {
    rest.remove_prefix(at);
    const auto one = match_text(error.pattern->texts[0], rest);
    if (!one) break;
    const std::string dimension = one->at("dim"), size = ".size(" + dimension + ")";
    add(out, "dimension " + dimension,
        "size " + one->at("got") + ", expected " + one->at("expected") + "; stride " + one->at("gotstride") +
            ", expected " + one->at("expectedstride"));
    if (one->at("got") != one->at("expected")) {
      std::string relation;
      for (const std::string& text : relations)
        if (text.find(size) != std::string::npos && text.find(" == ") != std::string::npos)
          relation += (relation.empty() ? "" : "; ") + text;
      out->culprit = "a size of dimension " + dimension + " is " + one->at("got") + " where " + one->at("expected") +
                     " is expected" + (relation.empty() ? "" : ": the caller breaks " + relation);
    }
    rest.remove_prefix(14);
  }
  if (inputs.size() == 1 && out->culprit == error.pattern->culprit)
    out->culprit = "input " + inputs[0] + ": " + error.pattern->culprit;
}

void add_nan(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  const std::vector<KernelText> kernels = kernel_texts(package);
  const KernelFlow flow(package, kernels);
  const std::string buffer = captured(error, "buffer");
  const std::vector<std::string> names = compiled_input_names(package);
  for (size_t i = 0; i < names.size(); ++i)
    if (package.compiled->input_names[i] == buffer) {
      out->culprit = "input " + names[i] + " holds it already when the package is called";
      out->change = "look at where " + names[i] + " comes from: the package did not make it";
      add(out, "input", names[i]);
    }
  for (size_t i = 0; i < flow.calls().size(); ++i)
    for (const FlowCall::Argument& argument : flow.calls()[i].arguments)
      if (argument.written && argument.actual == buffer) {
        add(out, "made by", flow.calls()[i].kernel + " (call " + std::to_string(i + 1) + ")");
        if (package.kernels && i < package.kernels->calls.size())
          add(out, "model line", model_line(*package.kernels, package.kernels->calls[i]));
      }
}

}  // namespace

std::vector<std::string> foreign_operators(const PackageInfo& package) {
  std::set<std::string> out;
  if (package.program)
    for (const Node& node : package.program->graph.nodes) {
      if (!node.target.starts_with("torch.ops.")) continue;
      const std::string_view name = short_target(node.target);
      const std::string_view library = name.substr(0, name.find('.'));
      if (library != "aten" && library != "prims" && library != "higher_order" && library != "_c10d_functional")
        out.emplace(name);
    }
  return {out.begin(), out.end()};
}

bool weights_left_out(const PackageInfo& package) {
  if (!package.compiled || package.compiled->constants.empty()) return false;
  for (const GeneratedFile& file : generated_files(package)) {
    const size_t at = file.text.find(": AOTInductorModelBase(");
    if (at == std::string::npos) continue;
    const std::string head = file.text.substr(at, file.text.find('{', at) - at);
    return head.find("false)") != std::string::npos;
  }
  return false;
}

Explanation explain_error(const RecognisedError& error, const ExplainPaths& paths) {
  const ErrorPattern& row = *error.pattern;
  Explanation out{row.id, row.title, error.line, error.times, error.others, error.text, row.meaning, row.culprit, row.change, {}, {}};
  const auto put = [](std::string& command, std::string_view word, const std::string& path) {
    for (size_t at = command.find(word); !path.empty() && at != std::string::npos;
         at = command.find(word, at + path.size()))
      command.replace(at, word.size(), path);
  };
  for (std::string command : row.commands) {
    put(command, "PACKAGE", paths.package);
    put(command, "CASE", paths.input);
    out.commands.push_back(std::move(command));
  }
  return out;
}

void add_package_facts(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  if (!package.compiled) return;
  switch (error.pattern->route) {
    case ErrorRoute::kIndex:
      add_index_facts(package, error, out);
      break;
    case ErrorRoute::kInput:
      add_input(package, error, out);
      break;
    case ErrorRoute::kLayout:
      add_layout(package, error, out);
      break;
    case ErrorRoute::kDevice:
      add(out, "compiled for", package.compiled->device);
      break;
    case ErrorRoute::kArchitecture:
      add(out, "compiled for",
          package.compiled->device +
              (package.compiled->compute_capability.empty()
                   ? ""
                   : ", compute capability " + package.compiled->compute_capability) +
              (package.compiled->cpu_isa.empty() ? "" : ", " + package.compiled->cpu_isa));
      break;
    case ErrorRoute::kOperator:
      add(out, "operators that are not torch's own", joined(foreign_operators(package)));
      break;
    case ErrorRoute::kConstants: {
      std::vector<std::string> names;
      for (const CompiledModel::Constant& constant : package.compiled->constants)
        names.push_back(constant.fqn.empty() ? constant.name : constant.fqn);
      add(out, "constants", joined(names));
      break;
    }
    case ErrorRoute::kNan:
      add_nan(package, error, out);
      break;
    case ErrorRoute::kNone:
      break;
  }
  if (package.pack && std::string_view(error.pattern->id) == "missing-shim")
    add(out, "compiled by torch", package.pack->torch_version);
}

std::vector<std::string> package_hazards(const PackageInfo& package) {
  std::vector<std::string> out;
  if (weights_left_out(package))
    out.push_back(
        "the package was compiled without its " + std::to_string(package.compiled->constants.size()) +
        " weights (package_constants_in_so=False): a call before load_constants() reads through null pointers");
  if (const std::vector<std::string> operators = foreign_operators(package); !operators.empty())
    out.push_back("the package calls " + joined(operators) + ": their library must be loaded first (--ops)");
  return out;
}

}  // namespace aotifuzz
