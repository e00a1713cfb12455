#include "package/kernel_detail.h"

#include <algorithm>
#include <charconv>

#include "package/archive.h"
#include "package/kernel_report.h"
#include "package/kernel_texts.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

using Role = KernelArgument::Role;

const std::string* find_measure(const Measures& measures, std::string_view name) {
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const auto& one) { return one.first == name; });
  return found == measures.end() ? nullptr : &found->second;
}

/// By its place in the map where that is known, else the first call of that kernel.
const MappedCall* find_call(const KernelMap& map, const std::string& kernel, const Measures& measures) {
  if (const std::string* text = find_measure(measures, "kernel call")) {
    size_t number = 0;
    std::from_chars(text->data(), text->data() + text->size(), number);
    if (number >= 1 && number <= map.calls.size() && map.calls[number - 1].kernel == kernel)
      return &map.calls[number - 1];
  }
  const auto found =
      std::find_if(map.calls.begin(), map.calls.end(), [&](const MappedCall& call) { return call.kernel == kernel; });
  return found == map.calls.end() ? nullptr : &*found;
}

/// Symbols as the case's inputs have them.
Expr::Lookup numbers_of(const KernelMap& map, const Case& c) {
  std::map<std::string, int64_t> numbers;
  std::vector<const CaseInput*> tensors;
  for (const CaseInput& input : c.inputs)
    if (input.kind == CaseInput::Kind::kTensor) tensors.push_back(&input);
  for (const auto& [name, source] : map.symbols) {
    if (source.stride || source.input < 0 || source.input >= static_cast<int64_t>(tensors.size())) continue;
    const std::vector<int64_t>& sizes = tensors[source.input]->sizes;
    if (source.dim < 0 || source.dim >= static_cast<int64_t>(sizes.size())) continue;
    if (sizes[source.dim] % source.by == 0) numbers[name] = sizes[source.dim] / source.by;
  }
  const Expr::Lookup of_inputs = [numbers](const std::string& name) -> std::optional<int64_t> {
    const auto known = numbers.find(name);
    return known == numbers.end() ? std::nullopt : std::optional<int64_t>(known->second);
  };
  return [of_inputs, &map](const std::string& name) {
    const auto precomputed = map.precomputed.find(name);
    return precomputed == map.precomputed.end() ? of_inputs(name) : precomputed->second.evaluate(of_inputs);
  };
}

std::string argument_text(const PackageInfo& package, const KernelArgument& argument, const Expr::Lookup& numbers) {
  const std::string name = argument_name(argument);
  if (argument.role == Role::kSize) {
    const std::optional<int64_t> number = argument.expression.evaluate(numbers);
    return name + " = " + size_text(package, argument.expression) + (number ? " = " + std::to_string(*number) : "");
  }
  const std::vector<KernelLabel>& labels = argument.exit.empty() ? argument.entry : argument.exit;
  if (labels.empty()) return "";
  std::string symbolic, concrete;
  bool known = true;
  for (const Expr& size : labels[0].sizes) {
    const std::optional<int64_t> number = size.evaluate(numbers);
    const std::string text = size_text(package, size);
    known = known && number;
    symbolic += (symbolic.empty() ? "" : ", ") + text;
    concrete += (concrete.empty() ? "" : ", ") + (number ? std::to_string(*number) : "?");
  }
  return name + " " + std::string(kernel_role_name(argument.role)) + " " + labels[0].value + " " +
         std::string(dtype_name(argument.dtype)) + "[" + symbolic + "]" +
         (known && symbolic != concrete ? " = [" + concrete + "]" : "");
}

}  // namespace

std::optional<KernelSource> kernel_source(const PackageInfo& package, const std::string& kernel) {
  if (package.kernels)
    if (const auto known = package.kernels->sources.find(kernel); known != package.kernels->sources.end())
      return KernelSource{kernel, known->second};
  for (const GeneratedFile& file : generated_files(package))
    for (KernelText& one : kernel_texts(file)) {
      if (one.kernel != kernel) continue;
      const size_t lines = static_cast<size_t>(std::count(one.text.begin(), one.text.end(), '\n'));
      return KernelSource{
          one.where + ":" + std::to_string(one.first_line) + "-" + std::to_string(one.first_line + lines - 1),
          std::move(one.text)};
    }
  return std::nullopt;
}

std::string crash_line(const PackageInfo& package, const std::string& stack) {
  constexpr std::string_view kMark = " (package, ";
  const size_t mark = stack.find(kMark);
  if (mark == std::string::npos) return "";
  const size_t from = mark + kMark.size();
  const std::string place = stack.substr(from, stack.find(')', from) - from);
  const size_t colon = place.find(':');
  size_t number = 0;
  if (colon == std::string::npos ||
      std::from_chars(place.data() + colon + 1, place.data() + place.size(), number).ec != std::errc() || number == 0)
    return "";
  const Result<Archive> archive = Archive::open(package.path);
  if (!archive || !package.compiled) return place;
  // The file's name is that of a member without its hash.
  const std::string folder = "data/aotinductor/" + package.compiled->name + "/", tail = "." + place.substr(0, colon);
  std::string found;
  for (const Archive::Member& member : archive->members()) {
    std::string_view name = member.name;
    if (name.starts_with(archive->root())) name.remove_prefix(archive->root().size());
    if (!name.starts_with(folder) || !name.ends_with(tail)) continue;
    if (!found.empty()) return place;  // which of them is not known
    const Result<std::string> text = archive->read(name);
    if (!text) return place;
    const std::vector<std::string_view> lines = lines_of_text(*text);
    if (number > lines.size()) return place;
    std::string_view line = lines[number - 1];
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    found = place + ": " + std::string(line);
  }
  return found.empty() ? place : found;
}

std::string named_kernel(const Measures& measures) {
  for (const char* name : {"kernel", "step"}) {
    const std::string* text = find_measure(measures, name);
    if (!text) continue;
    const size_t colon = text->starts_with("launch ") ? text->find(": ") : std::string::npos;
    const std::string kernel = colon == std::string::npos ? *text : text->substr(colon + 2);
    // Sentences stand there too, where no kernel is known.
    if (!kernel.empty() && kernel.find(' ') == std::string::npos) return kernel;
  }
  return "";
}

Measures kernel_measures(const PackageInfo& package, const Case& c, const Measures& measures) {
  Measures out;
  const std::string kernel = named_kernel(measures);
  if (!package.kernels || !package.compiled || kernel.empty()) return out;
  const KernelMap& map = *package.kernels;
  const MappedCall* call = find_call(map, kernel, measures);
  if (!call) return out;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) out.emplace_back(name, std::move(value));
  };
  add("kernel's model line", model_line(map, *call));
  std::string ops;
  for (const std::string& node : call->nodes)
    if (const std::string op = op_that_makes(map.graph, node); !op.empty())
      ops += (ops.empty() ? "" : ", ") + node + " (" + op + ")";
  add("kernel's nodes", ops);
  const Expr::Lookup numbers = numbers_of(map, c);
  std::string arguments;
  for (const KernelArgument& argument : call->arguments)
    if (const std::string text = argument_text(package, argument, numbers); !text.empty())
      arguments += (arguments.empty() ? "" : "; ") + text;
  add("kernel's arguments", arguments);
  return out;
}

std::string touched_value(const KernelMap& map, const MemoryFault& fault) {
  if (fault.argument < 0 || fault.kernel.empty()) return "";
  // The kernel may be called several times, with different values: only what all agree on is said.
  std::string value;
  for (const MappedCall& call : map.calls) {
    if (call.kernel != fault.kernel) continue;
    for (const KernelArgument& argument : call.arguments) {
      if (argument.at != fault.argument || call.kind == MappedCall::Kind::kShim) continue;
      const std::vector<KernelLabel>& labels = argument.role == Role::kOut ? argument.exit : argument.entry;
      if (labels.empty()) return "";
      const std::string op = op_that_makes(map.graph, labels[0].value);
      const std::string text = labels[0].value + (op.empty() ? "" : " (" + op + ")");
      if (!value.empty() && value != text) return "";
      value = text;
    }
  }
  return value;
}

}  // namespace aotifuzz
