#include "package/kernel_flow.h"

#include <algorithm>
#include <map>

#include "package/kernel_report.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

constexpr int kDepthMax = 32;
constexpr size_t kWaysMax = 8;  // lines of upstream()
using Role = KernelArgument::Role;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string_view leading_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

/// What stands between the parentheses that open at `open`, split at its outer commas; none when they do not close.
std::optional<std::vector<std::string_view>> arguments_at(std::string_view text, size_t open) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = open + 1;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    const bool ends = (c == ')' || c == ']' || c == '}') && --depth == 0;
    if ((c == ',' && depth == 1) || ends) {
      if (const std::string_view one = trimmed(text.substr(begin, i - begin)); !one.empty()) out.push_back(one);
      begin = i + 1;
    }
    if (ends) return out;
  }
  return std::nullopt;
}

/// "(const float*)(arg0_1.data_ptr())" is arg0_1, "&buf3_handle" is buf3.
std::string actual_name(std::string_view text) {
  if (text.starts_with("(")) {
    const size_t close = text.find(')');
    if (close != std::string_view::npos && text.substr(0, close).ends_with("*")) text = trimmed(text.substr(close + 1));
    while (text.starts_with("(")) text.remove_prefix(1);
  }
  if (text.starts_with("&")) text.remove_prefix(1);
  std::string_view word = leading_word(text);
  if (word.ends_with("_handle")) word.remove_suffix(7);
  const std::string_view rest = text.substr(leading_word(text).size());
  return std::string(rest.empty() || rest.starts_with(".data_ptr()") || rest.starts_with(".get()") ? word : text);
}

/// Names of a kernel's parameters: C++ "const float* in_ptr0", Triton "in_ptr0, ks0, XBLOCK : tl.constexpr".
std::vector<std::string> formals_of(const KernelText& kernel) {
  std::vector<std::string> out;
  size_t open = kernel.text.find(" " + kernel.kernel + "(");
  if (kernel.text.starts_with("extern")) {
    if (open != std::string::npos) open = kernel.text.find('(', open);
  } else {
    const size_t def = kernel.text.find("\ndef ");
    open = def == std::string::npos ? def : kernel.text.find('(', def);
  }
  if (open == std::string::npos) return out;
  const auto parameters = arguments_at(kernel.text, open);
  if (!parameters) return out;
  for (std::string_view parameter : *parameters) {
    parameter = trimmed(parameter.substr(0, parameter.find(':')));
    size_t begin = parameter.size();
    while (begin > 0 && is_word(parameter[begin - 1])) --begin;
    out.emplace_back(parameter.substr(begin));
  }
  return out;
}

bool writes(std::string_view formal) { return formal.starts_with("out_ptr") || formal.starts_with("in_out_ptr"); }
bool reads(std::string_view formal) { return formal.starts_with("in_"); }

}  // namespace

std::vector<std::string> compiled_input_names(const PackageInfo& package) {
  if (!package.compiled) return {};
  std::vector<std::string> names;
  for (const InputSpec& input : package.contract.inputs)
    if (!input.is_constant && input.kind != CaseInput::Kind::kNone) names.push_back(input.name);
  return names.size() == package.compiled->input_names.size() ? names : package.compiled->input_names;
}

KernelFlow::KernelFlow(const PackageInfo& package, const std::vector<KernelText>& kernels) : package_(package) {
  if (package.kernels)
    from_map();
  else
    from_wrapper(kernels);
}

void KernelFlow::from_map() {
  for (const MappedCall& call : package_.kernels->calls) {
    FlowCall out;
    out.kernel = call.kernel;
    for (const KernelArgument& argument : call.arguments) {
      if (argument.role == Role::kSize) {
        out.arguments.push_back({argument.name, size_text(package_, argument.expression), true, false});
        continue;
      }
      const bool both = argument.role == Role::kInOut;
      out.arguments.push_back(
          {argument.name, argument.buffer, both || argument.role == Role::kIn, both || argument.role == Role::kOut});
    }
    calls_.push_back(std::move(out));
  }
}

void KernelFlow::from_wrapper(const std::vector<KernelText>& kernels) {
  std::map<std::string, std::vector<std::string>> formals;
  for (const KernelText& kernel : kernels) formals[kernel.kernel] = formals_of(kernel);
  for (const GeneratedFile& file : generated_files(package_)) {
    const std::string_view text = file.text;
    size_t at = text.find("AOTInductorModel::run_impl(");
    if (at == std::string_view::npos) continue;
    const std::string_view body = text.substr(at, text.find("\n}", at) - at);
    for (at = body.find('\n'); at != std::string_view::npos; at = body.find('\n', at + 1)) {
      std::string_view line = body.substr(at + 1);
      const size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
      size_t begin = at + 1 + indent;
      constexpr std::string_view kChecked = "AOTI_TORCH_ERROR_CODE_CHECK(";
      if (body.substr(begin).starts_with(kChecked)) begin += kChecked.size();
      std::string_view name = leading_word(body.substr(begin));
      const size_t open = begin + name.size();
      if (name.starts_with("call_")) name.remove_prefix(5);
      const auto known = formals.find(std::string(name));
      const bool op = name.starts_with("aoti_torch_") &&
                      std::any_of(package_.compiled->kernels.begin(), package_.compiled->kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.name == name; });
      if ((known == formals.end() && !op) || open >= body.size() || body[open] != '(') continue;
      const auto arguments = arguments_at(body, open);
      if (!arguments) continue;
      FlowCall call;
      call.kernel = name;
      for (size_t i = 0; i < arguments->size(); ++i) {
        const std::string_view argument = (*arguments)[i];
        if (op) {
          const bool written = argument.starts_with("&") || (i == 0 && name.ends_with("_out"));
          call.arguments.push_back({"", actual_name(argument), !written, written});
        } else if (i < known->second.size()) {
          const std::string& formal = known->second[i];
          call.arguments.push_back({formal, actual_name(argument), reads(formal) || !writes(formal), writes(formal)});
        }
      }
      calls_.push_back(std::move(call));
    }
  }
}

std::optional<size_t> KernelFlow::find(std::string_view kernel) const {
  for (size_t i = 0; i < calls_.size(); ++i)
    if (calls_[i].kernel == kernel) return i;
  return std::nullopt;
}

const FlowCall::Argument* KernelFlow::argument(size_t call, std::string_view formal) const {
  for (const FlowCall::Argument& one : calls_[call].arguments)
    if (one.formal == formal) return &one;
  return nullptr;
}

std::optional<size_t> KernelFlow::maker_of(size_t call, const std::string& buffer) const {
  while (call-- > 0)
    for (const FlowCall::Argument& one : calls_[call].arguments)
      if (one.written && one.actual == buffer) return call;
  return std::nullopt;
}

std::string KernelFlow::outside(const std::string& actual) const {
  const CompiledModel& model = *package_.compiled;
  const std::vector<std::string> names = compiled_input_names(package_);
  for (size_t i = 0; i < model.input_names.size(); ++i)
    if (model.input_names[i] == actual) return "input " + names[i];
  for (const CompiledModel::Constant& constant : model.constants)
    if (constant.name == actual) return "weight " + (constant.fqn.empty() ? constant.name : constant.fqn);
  return {};
}

std::string KernelFlow::given(size_t call, std::string_view formal) const {
  const FlowCall::Argument* found = package_.compiled ? argument(call, formal) : nullptr;
  if (!found) return {};
  if (std::string from = outside(found->actual); !from.empty()) return from;
  if (const auto dim = package_.compiled->symbol_dims.find(found->actual); dim != package_.compiled->symbol_dims.end())
    return dim->second;
  if (!package_.kernels || call >= package_.kernels->calls.size()) return found->actual;
  for (const KernelArgument& argument : package_.kernels->calls[call].arguments) {
    if (argument.name != formal || argument.role == Role::kSize) continue;
    const std::vector<KernelLabel>& labels = argument.exit.empty() ? argument.entry : argument.exit;
    if (labels.empty()) break;
    const std::string op = op_that_makes(package_.kernels->graph, labels[0].value);
    return found->actual + " (" + labels[0].value + (op.empty() ? "" : ", " + op) + ")";
  }
  return found->actual;
}

std::optional<size_t> KernelFlow::maker(size_t call, std::string_view formal) const {
  const FlowCall::Argument* found = argument(call, formal);
  if (!found || !package_.compiled) return std::nullopt;
  // What a kernel both writes and reads it made itself.
  if (found->written && !found->read) return call;
  return outside(found->actual).empty() ? maker_of(call, found->actual) : std::nullopt;
}

void KernelFlow::walk(size_t call, const std::string& actual, std::string so_far, int depth,
                      std::vector<std::string>* lines, std::vector<std::string>* inputs) const {
  if (const std::string from = outside(actual); !from.empty()) {
    if (from.starts_with("input ")) inputs->push_back(from.substr(6));
    lines->push_back(so_far + from);
    return;
  }
  const std::optional<size_t> by = maker_of(call, actual);
  if (!by || depth >= kDepthMax) {
    lines->push_back(so_far + actual);
    return;
  }
  so_far += actual + " <- " + calls_[*by].kernel + " (call " + std::to_string(*by + 1) + ") <- ";
  std::vector<std::string> seen;
  for (const FlowCall::Argument& one : calls_[*by].arguments) {
    if (!one.read || one.actual == actual || package_.compiled->symbol_dims.contains(one.actual)) continue;
    if (outside(one.actual).empty() && !maker_of(*by, one.actual)) continue;  // a number
    if (lines->size() >= kWaysMax || std::find(seen.begin(), seen.end(), one.actual) != seen.end()) continue;
    seen.push_back(one.actual);
    walk(*by, one.actual, so_far, depth + 1, lines, inputs);
  }
}

std::vector<std::string> KernelFlow::upstream(size_t call, std::string_view formal) const {
  std::vector<std::string> lines, inputs;
  const FlowCall::Argument* found = package_.compiled ? argument(call, formal) : nullptr;
  if (found && outside(found->actual).empty()) walk(call, found->actual, "", 0, &lines, &inputs);
  return lines;
}

std::vector<std::string> KernelFlow::inputs_of(size_t call, std::string_view formal) const {
  std::vector<std::string> lines, inputs;
  if (const FlowCall::Argument* found = package_.compiled ? argument(call, formal) : nullptr)
    walk(call, found->actual, "", 0, &lines, &inputs);
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

}  // namespace aotifuzz
