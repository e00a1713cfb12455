#include "package/trace_kernels.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <tuple>

namespace aotifuzz {
namespace {

using nlohmann::json;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

void collect_names(const std::string& text, std::set<std::string>& out) {
  for (const char* begin : {"cpp_fused_", "triton_"})
    for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
      if (at > 0 && is_word(text[at - 1])) continue;
      size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      // "..._fused_add_0": a number comes last. Names like triton_helpers have none.
      const std::string name = text.substr(at, end - at);
      if (name.find("_fused_") != std::string::npos && std::isdigit(static_cast<unsigned char>(name.back())))
        out.insert(name);
    }
}

// Longer lines are no Python: std::regex takes stack for each character.
constexpr size_t kLineMax = 2048;

/// The frames of Python's `File "x.py", line 12, in forward` with the source below it.
std::vector<TraceFrame> frames_in(const std::string& stack) {
  static const std::regex kFrame(R"re(^\s*File "([^"]+)", line ([0-9]{1,9}), in (.*)$)re");
  std::vector<TraceFrame> out;
  std::istringstream in(stack);
  bool source = false;  // the line below a frame
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (line.size() <= kLineMax && std::regex_match(line, match, kFrame)) {
      out.push_back({match[1], std::stoll(match[2]), match[3], ""});
      source = true;
    } else if (source) {
      out.back().code = line.substr(0, kLineMax);
      source = false;
    }
  }
  return out;
}

/// By file and line, each once.
std::vector<std::string> texts_of(std::vector<TraceFrame> frames) {
  std::sort(frames.begin(), frames.end(),
            [](const auto& a, const auto& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
  std::vector<std::string> out;
  for (const TraceFrame& frame : frames)
    if (const std::string text = frame_text(frame); out.empty() || out.back() != text) out.push_back(text);
  return out;
}

std::vector<TracedKernel> recorded(const TraceRecord& stacks, const TorchFolders& torch) {
  std::vector<TracedKernel> out;
  const json document = json::parse(stacks.payload, nullptr, false);
  if (!document.is_object()) return out;
  for (const auto& [key, value] : document.items()) {
    if (!value.is_array()) continue;
    const std::string name = key.substr(0, key.find(':'));
    auto same = std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.name == name; });
    if (same == out.end()) same = out.insert(out.end(), {name, {}, false});
    std::vector<TraceFrame> lines;
    for (const json& one : value) {
      if (!one.is_string()) continue;
      const std::vector<TraceFrame> frames = frames_in(one.get<std::string>());
      const auto inner = std::find_if(frames.rbegin(), frames.rend(),
                                      [&](const TraceFrame& frame) { return !is_library_frame(frame, torch); });
      if (inner != frames.rend()) lines.push_back(*inner);
    }
    for (std::string& line : texts_of(std::move(lines)))
      if (std::find(same->lines.begin(), same->lines.end(), line) == same->lines.end())
        same->lines.push_back(std::move(line));
  }
  return out;
}

/// A node of the recorded graph: its operator and the line above it.
struct GraphLine {
  std::string op;
  TraceFrame line;
};

std::vector<GraphLine> lines_of_graph(const std::string& graph, const TorchFolders& torch) {
  static const std::regex kFile(R"re(# File: ([^\n]+):([0-9]{1,9}) in ([^,\n]*), code: ([^\n]*))re");
  static const std::regex kOp(R"re(torch\.ops\.[A-Za-z0-9_]+\.([A-Za-z0-9_]+)\.)re");
  std::vector<GraphLine> out;
  std::istringstream in(graph);
  TraceFrame line;
  bool model = false;
  for (std::string text; std::getline(in, text);) {
    if (text.size() > kLineMax) continue;
    std::smatch match;
    if (std::regex_search(text, match, kFile)) {
      line = {match[1], std::stoll(match[2]), match[3], match[4]};
      model = !is_library_frame(line, torch);
    } else if (model && std::regex_search(text, match, kOp)) {
      out.push_back({match[1], line});
    }
  }
  return out;
}

}  // namespace

std::set<std::string> kernel_names(const TracedCompilation& compilation) {
  std::set<std::string> out;
  if (compilation.wrapper) collect_names(compilation.wrapper->payload, out);
  return out;
}

std::set<std::string> kernel_names(const PackageInfo& package) {
  std::set<std::string> out;
  if (package.compiled)
    for (const KernelInfo& kernel : package.compiled->kernels)
      if (!kernel.is_extern) out.insert(kernel.name);
  return out;
}

bool is_wrapper_of(const TracedCompilation& compilation, const PackageInfo& package) {
  if (!compilation.wrapper || !package.compiled) return false;
  const auto stem = [](const std::string& path) {
    const std::string name = base_name(path);
    return name.substr(0, name.find('.'));
  };
  const std::string member = package.is_library ? package.path : package.compiled->so_member;
  const std::string mine = stem(member);
  return !mine.empty() && mine == stem(compilation.wrapper->name);
}

std::vector<TracedKernel> traced_kernels(const TracedCompilation& compilation, const TorchFolders& torch) {
  std::vector<TracedKernel> out;
  if (compilation.stacks) out = recorded(*compilation.stacks, torch);
  const std::vector<GraphLine> lines =
      compilation.graph ? lines_of_graph(compilation.graph->payload, torch) : std::vector<GraphLine>();
  for (const std::string& name : kernel_names(compilation)) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.name == name; });
    if (same != out.end() && !same->lines.empty()) continue;
    TracedKernel kernel{name, {}, true};
    std::vector<TraceFrame> own;
    for (const GraphLine& one : lines)
      if (("_" + name + "_").find("_" + one.op + "_") != std::string::npos) own.push_back(one.line);
    kernel.lines = texts_of(std::move(own));
    if (same == out.end())
      out.push_back(std::move(kernel));
    else
      *same = std::move(kernel);
  }
  return out;
}

std::string torch_version_of(const TraceRecord& record) {
  const json document = json::parse(record.payload, nullptr, false);
  if (!document.is_object()) return "";
  const auto version = document.find("pytorch_version");
  return version != document.end() && version->is_string() ? version->get<std::string>() : std::string();
}

}  // namespace aotifuzz
