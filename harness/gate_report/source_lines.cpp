#include "gate_report/source_lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "store/tool_output.h"

namespace aotifuzz {
namespace {

/// Addresses in one call of the program: far below the limit on a command line.
constexpr size_t kAddressesMax = 512;

/// What addr2line prints of the addresses; "" when there is no such program.
std::string ask(const std::string& library, const std::vector<uint64_t>& offsets) {
  std::vector<std::string> words = {"addr2line", "-a", "-i", "-f", "-C", "-e", library};
  for (const uint64_t offset : offsets) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(offset));
    words.emplace_back(text);
  }
  return tool_output(std::move(words));
}

bool is_header_of_others(const std::string& file) {
  for (const char* part : {"/torch/include/", "/usr/include/", "/usr/lib/", "/c10/", "/ATen/", "/bits/", "/c++/"})
    if (file.find(part) != std::string::npos) return true;
  return file.empty() || file[0] == '?';
}

/// "path/ops.cpp:62 (discriminator 3)".
SourceLine position(const std::string& text) {
  const size_t colon = text.rfind(':', text.find(" ("));
  SourceLine out;
  if (colon == std::string::npos) return out;
  out.file = text.substr(0, colon);
  out.line = std::atoi(text.c_str() + colon + 1);
  if (out.file == "??") out.file.clear();
  return out;
}

}  // namespace

std::string short_function_name(const std::string& name) {
  std::string out = name;
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at; (at = out.find(anonymous)) != std::string::npos;) out.erase(at, anonymous.size());
  out.resize(std::min(out.find('('), out.size()));
  if (out == "??") out.clear();
  return out;
}

int registration_line(const std::string& file, int block_line, const std::string& op) {
  std::ifstream in(file);
  const std::string name = op.substr(op.find("::") + 2);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    if (++number < block_line) continue;
    if (number > block_line && line.starts_with("TORCH_LIBRARY")) break;
    // m.def("name(Tensor x)..."), m.impl("name", f), and both with the namespace.
    for (const std::string& written : {name, op})
      for (const char* end : {"(", "\""})
        if (line.find("\"" + written + end) != std::string::npos) return number;
  }
  return block_line;
}

std::string find_source(const std::string& file, const std::string& library) {
  namespace fs = std::filesystem;
  constexpr int kFoldersMax = 5;
  if (file.empty() || file[0] == '/') return fs::path(file).lexically_normal().string();
  std::error_code error;
  std::vector<fs::path> folders = {fs::current_path(error)};
  fs::path folder = fs::absolute(library, error).parent_path();
  for (int i = 0; i < kFoldersMax && folder.has_relative_path(); ++i, folder = folder.parent_path())
    folders.push_back(folder);
  for (const fs::path& candidate : folders)
    if (fs::exists(candidate / file, error)) return (candidate / file).lexically_normal().string();
  return file;
}

SourceLines::SourceLines(const std::vector<GateFrame>& frames) {
  std::map<std::string, std::set<uint64_t>> by_library;
  for (const GateFrame& frame : frames) by_library[frame.library].insert(frame.offset);
  for (const auto& [library, all] : by_library) {
    const std::vector<uint64_t> offsets(all.begin(), all.end());
    for (size_t begin = 0; begin < offsets.size(); begin += kAddressesMax) {
      const std::vector<uint64_t> some(
          offsets.begin() + static_cast<long>(begin),
          offsets.begin() + static_cast<long>(std::min(begin + kAddressesMax, offsets.size())));
      const std::string text = ask(library, some);
      // An address, then pairs of a function and a position.
      std::vector<SourceLine>* now = nullptr;
      std::string function;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        if (line.rfind("0x", 0) == 0) {
          now = &lines_[{library, std::strtoull(line.c_str(), nullptr, 16)}];
          function.clear();
        } else if (function.empty()) {
          function = line;
        } else if (now) {
          SourceLine found = position(line);
          found.function = short_function_name(function);
          now->push_back(std::move(found));
          function.clear();
        }
      }
    }
  }
}

SourceLine SourceLines::user_line(const std::vector<GateFrame>& frames) const {
  for (const GateFrame& frame : frames) {
    const auto found = lines_.find({frame.library, frame.offset});
    if (found == lines_.end()) continue;
    for (const SourceLine& line : found->second)
      if (!is_header_of_others(line.file) && line.line > 0) return line;
  }
  // Without debug information: the innermost function that is not torch's, inlined into the user's code.
  for (const GateFrame& frame : frames)
    if (!frame.symbol.empty() && frame.symbol.find("c10::") != 0 && frame.symbol.find("at::") != 0 &&
        frame.symbol.find("torch::") != 0 && frame.symbol.find("std::") != 0)
      return {"", 0, short_function_name(frame.symbol)};
  return {};
}

}  // namespace aotifuzz
