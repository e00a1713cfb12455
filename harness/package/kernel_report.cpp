#include "package/kernel_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "package/kernel_slice.h"

namespace aotifuzz {
namespace {

using Role = KernelArgument::Role;

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string layout_text(const PackageInfo& package, const KernelLabel& label) {
  std::string out = "[";
  for (size_t i = 0; i < label.sizes.size(); ++i)
    out += (i ? ", " : "") + size_text(package, label.sizes[i]);
  return out + "]";
}

std::string rule_text(const KernelLabel& label) {
  switch (label.rule) {
    case KernelLabel::Rule::kSame:
      return "";
    case KernelLabel::Rule::kDivide:
      return " times " + label.by.text();
    case KernelLabel::Rule::kCast:
      return " in the buffer's dtype";
  }
  return "";
}

void print_argument(const PackageInfo& package, const KernelArgument& argument, std::ostream& out) {
  out << "      " << argument_name(argument);
  if (argument.role == Role::kSize) {
    out << " = " << size_text(package, argument.expression) << '\n';
    return;
  }
  out << ' ' << kernel_role_name(argument.role) << ' ' << argument.buffer;
  if (argument.dtype != Dtype::kUnknown) out << ' ' << dtype_name(argument.dtype);
  const auto labels = [&](const char* when, const std::vector<KernelLabel>& held) {
    if (held.empty()) return;
    // The others are views of the first.
    out << ' ' << when << ' ' << held[0].value << rule_text(held[0]) << ' ' << layout_text(package, held[0]);
  };
  labels("holds", argument.entry);
  labels("gets", argument.exit);
  out << '\n';
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string size_text(const PackageInfo& package, const Expr& expression) {
  return expression
      .substitute([&](const std::string& name) -> std::optional<Expr> {
        if (!package.kernels->symbols.contains(name)) return std::nullopt;
        const auto known = package.compiled->symbol_dims.find(name);
        if (known != package.compiled->symbol_dims.end()) return Expr::symbol(known->second);
        return std::nullopt;
      })
      .text();
}

std::string why_not_judged(const KernelMap& map, const MappedCall& call) {
  if (!call.judged) return call.why_not.empty() ? "not verified" : call.why_not;
  const Result<KernelSlice> slice = slice_of_call(map, call);
  return slice ? "" : slice.error().what;
}

std::string model_line(const KernelMap& map, const MappedCall& call) {
  for (const std::string& name : call.nodes)
    for (const Node& node : map.graph.nodes) {
      if (node.name != name || node.stack_trace.empty()) continue;
      // Python's form: the last `File "x.py", line 12, in forward` and the source line below it.
      const std::string_view trace = node.stack_trace;
      // The innermost frame of the model; torch's own modules say less.
      size_t file = trace.rfind("File \"");
      while (file != trace.npos && file > 0 &&
             trace.substr(file, trace.find('\n', file) - file).find("/torch/") != trace.npos)
        file = trace.rfind("File \"", file - 1);
      if (file == trace.npos) file = trace.rfind("File \"");
      if (file == trace.npos) continue;
      const std::string_view frame = trace.substr(file + 6);
      const size_t name_end = frame.find('"'), line = frame.find("line "), in = frame.find(", in ");
      if (name_end == frame.npos || line == frame.npos || in == frame.npos || in < line) continue;
      const std::string_view path = frame.substr(0, name_end);
      std::string out(path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1));
      out += ":" + std::string(frame.substr(line + 5, in - line - 5)) + " in " +
             std::string(first_line(frame.substr(in + 5)));
      const size_t newline = frame.find('\n');
      if (newline != frame.npos) {
        const std::string_view source = trimmed(first_line(frame.substr(newline + 1)));
        if (!source.empty()) out += ": " + std::string(source);
      }
      return out;
    }
  return "";
}

void print_kernel_table(const PackageInfo& package, std::ostream& out) {
  const KernelMap& map = *package.kernels;
  std::map<std::string, int> reasons;
  size_t judged = 0;
  for (const MappedCall& call : map.calls) {
    const std::string why = why_not_judged(map, call);
    why.empty() ? ++judged : ++reasons[why];
  }
  out << "kernels: " << map.calls.size() << " calls, " << judged << " of them judged against eager\n";
  for (const auto& [why, count] : reasons) out << "  " << count << " not: " << why << '\n';
  for (const std::string& note : map.notes) out << "  note: " << note << '\n';
  for (size_t i = 0; i < map.calls.size(); ++i) {
    const MappedCall& call = map.calls[i];
    const std::string why = why_not_judged(map, call);
    out << "  " << i + 1 << "  " << call.kernel << "  (" << kernel_kind_name(call.kind) << ") "
        << (why.empty() ? "judged" : "not judged: " + why) << '\n';
    if (const std::string line = model_line(map, call); !line.empty()) out << "      " << line << '\n';
    if (!call.nodes.empty()) {
      out << "      nodes:";
      for (const std::string& node : call.nodes) out << ' ' << node;
      out << '\n';
    }
    for (const KernelArgument& argument : call.arguments)
      if (argument.role != Role::kOther) print_argument(package, argument, out);
  }
}

void print_kernel_graph(const PackageInfo& package, std::ostream& out) {
  const KernelMap& map = *package.kernels;
  out << "digraph kernels {\n  node [shape=box, fontname=\"monospace\"];\n";
  std::map<std::string, size_t> maker;  // by value: the call that left it last
  std::set<std::string> inputs;
  for (size_t i = 0; i < map.calls.size(); ++i) {
    const MappedCall& call = map.calls[i];
    const std::string why = why_not_judged(map, call);
    out << "  call" << i + 1
        << " [label=" << quoted(std::to_string(i + 1) + " " + call.kernel + (why.empty() ? "" : "\n" + why))
        << (why.empty() ? "" : ", style=dashed") << "];\n";
    for (const KernelArgument& argument : call.arguments) {
      if (argument.entry.empty()) continue;
      const KernelLabel& label = argument.entry[0];
      std::optional<size_t> from;
      for (const KernelLabel& held : argument.entry)
        if (const auto made = maker.find(held.value); made != maker.end()) from = made->second;
      const std::string edge = quoted(label.value + "\n" + layout_text(package, label));
      if (from) {
        out << "  call" << *from + 1 << " -> call" << i + 1 << " [label=" << edge << "];\n";
      } else {
        if (inputs.insert(argument.buffer).second) out << "  " << quoted(argument.buffer) << " [shape=ellipse];\n";
        out << "  " << quoted(argument.buffer) << " -> call" << i + 1 << " [label=" << edge << "];\n";
      }
    }
    for (const KernelArgument& argument : call.arguments)
      for (const KernelLabel& label : argument.exit) maker[label.value] = i;
  }
  out << "}\n";
}

}  // namespace aotifuzz
