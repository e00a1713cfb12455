#include "package/error_context.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "package/contract_bounds.h"
#include "package/index_checks.h"
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

/// "czyg...qs.kernel.cpp:26" is kernel.cpp:26: the hash says nothing to people, and crash lines have none either.
std::string short_place(const std::string& place) {
  const size_t colon = place.find(':');
  for (const char* file : {".kernel.cpp", ".wrapper.cpp"})
    if (const size_t at = place.find(file); at != std::string::npos && at < colon) return place.substr(at + 1);
  return place;
}

/// The last of the lines that an index is made by, the longest of them cut.
std::string last_lines(const std::vector<std::string>& made) {
  constexpr size_t kLines = 5, kLength = 120;
  std::string out = made.size() > kLines ? "..." : "";
  for (size_t i = made.size() > kLines ? made.size() - kLines : 0; i < made.size(); ++i)
    out += (out.empty() ? "" : "  ") + (made[i].size() > kLength ? made[i].substr(0, kLength) + "..." : made[i]);
  return out;
}

/// Is an index that these lines make the value that was read, but for its type and for negative ones that are wrapped?
bool is_copy(const std::vector<std::string>& made) {
  bool adds = false, chooses = false;
  for (const std::string& line : made) {
    for (const char* computed : {"tmp_acc", ".store(", "tl.store(", "tl.sum", " * ", " - ", " / ", " % ", "div_floor"})
      if (line.find(computed) != std::string::npos && line.find("_ptr") == std::string::npos) return false;
    if (line.find("out_ptr") != std::string::npos) return false;
    adds = adds || (line.find(" + ") != std::string::npos && line.find("_ptr") == std::string::npos);
    chooses = chooses || line.find(" ? ") != std::string::npos || line.find("tl.where(") != std::string::npos ||
              line.find("blendv") != std::string::npos;
  }
  return !adds || chooses;
}

void add_index_check(const PackageInfo& package, const KernelFlow& flow, const IndexCheck& check,
                     const std::string& index, const std::string& bound, Explanation* out) {
  add(out, "kernel", check.kernel);
  add(out, "check", short_place(check.where) + ": " + check.check);
  const std::optional<size_t> call = flow.find(check.kernel);
  const auto given = [&](const std::string& formal) { return call ? flow.given(*call, formal) : std::string(); };
  const auto with_meaning = [&](const std::string& formal) {
    const std::string meaning = given(formal);
    return formal + (meaning.empty() || meaning == formal ? "" : " = " + meaning);
  };
  if (!check.access.empty())
    add(out, check.stores ? "guards the store" : "guards the load",
        short_place(check.access_where) + ": " + check.access + "   " + with_meaning(check.accessed));
  for (const std::string& size : check.sizes) add(out, size, given(size));
  std::vector<std::string> from, inputs;
  bool direct = !check.pointers.empty();
  for (const std::string& pointer : check.pointers) {
    from.push_back(with_meaning(pointer));
    direct = direct && given(pointer).starts_with("input ");
    if (!call) continue;
    for (std::string& input : flow.inputs_of(*call, pointer))
      if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(std::move(input));
  }
  add(out, index, (from.empty() ? "" : "from " + joined(from) + ": ") + last_lines(check.made));
  std::string maker;
  if (call)
    for (const std::string& pointer : check.pointers) {
      for (const std::string& way : flow.upstream(*call, pointer)) add(out, "upstream", way);
      if (const auto by = flow.maker(*call, pointer); by && maker.empty())
        maker = flow.calls()[*by].kernel + " (call " + std::to_string(*by + 1) + ")";
    }
  if (package.kernels && call && *call < package.kernels->calls.size())
    add(out, "model line", model_line(*package.kernels, package.kernels->calls[*call]));

  std::string limit = bound;
  while (limit.ends_with('L') || limit.ends_with('U')) limit.pop_back();
  if (const std::string meaning = given(limit); !meaning.empty() && meaning != limit) limit = meaning;
  const auto calls = std::count_if(flow.calls().begin(), flow.calls().end(),
                                   [&](const FlowCall& one) { return one.kernel == check.kernel; });
  if (calls > 1) {
    add(out, "called", std::to_string(calls) + " times: what is said above is of the first call");
    return;
  }
  if (inputs.empty()) return;
  const bool copied = direct && is_copy(check.made);
  const std::string which = (inputs.size() > 1 ? "inputs " : "input ") + joined(inputs);
  if (copied && inputs.size() == 1) {
    out->culprit = "the values of input " + inputs[0] + ": " + check.kernel + " uses them as an index below " + limit;
    out->change = "give " + inputs[0] + " values from 0 to " + limit +
                  " - 1; or clamp or check them in the model before they are used";
  } else {
    out->culprit = "the index is computed from " + which + ", in " +
                   (maker.empty() ? check.kernel + " itself" : maker) + ", and is not below " + limit;
    out->change = "bound what the model computes from " + which + " (clamp, torch._check) by " + limit +
                  ", or give inputs that agree";
  }
}

void add_index(const PackageInfo& package, const RecognisedError& error, Explanation* out) {
  const std::string index = captured(error, "index");
  std::string bound = captured(error, "bound");
  bound = bound.substr(0, bound.find_first_of("`\"'"));
  while (bound.ends_with(' ') || bound.ends_with('.')) bound.pop_back();
  const std::vector<KernelText> kernels = kernel_texts(package);
  const std::vector<IndexCheck> checks = find_index_checks(kernels, index, bound);
  if (checks.empty()) {
    add(out, "kernel",
        kernels.empty() ? "the package holds no generated source"
                        : "none of the " + std::to_string(kernels.size()) +
                              " kernels of this package has that check: the text is of another one");
    return;
  }
  if (checks.size() > 1)
    add(out, "kernels with this check",
        std::to_string(checks.size()) + ", which of them is not in the text; with --case it is");
  const KernelFlow flow(package, kernels);
  for (const IndexCheck& check : checks) add_index_check(package, flow, check, index, bound, out);
  if (checks.size() > 1) {
    const ErrorPattern& row = *error.pattern;
    out->culprit = row.culprit;
    out->change = row.change;
  }
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
  Explanation out{row.id, row.title, error.line, error.times, error.text, row.meaning, row.culprit, row.change, {}, {}};
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
      add_index(package, error, out);
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
