#include "package/kernel_texts.h"

#include <algorithm>

#include "package/archive.h"

namespace aotifuzz {
namespace {

std::string word_before(std::string_view line, size_t end) {
  size_t begin = end;
  while (begin > 0 && line[begin - 1] != ' ' && line[begin - 1] != '*') --begin;
  return std::string(line.substr(begin, end - begin));
}

/// The last line of the function that begins at `first`; its first for a declaration.
size_t end_of_function(const std::vector<std::string_view>& lines, size_t first) {
  size_t at = first;
  while (at < lines.size() && lines[at].find_first_of("{;") == std::string_view::npos) ++at;
  // A declaration ends with its parameters.
  if (at == lines.size() || lines[at].find('{') == std::string_view::npos) return first;
  const size_t last = std::find(lines.begin() + static_cast<long>(at), lines.end(), "}") - lines.begin();
  return last < lines.size() ? last : first;
}

}  // namespace

std::vector<std::string_view> lines_of_text(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<GeneratedFile> generated_files(const PackageInfo& package) {
  std::vector<GeneratedFile> out;
  const Result<Archive> archive = Archive::open(package.path);
  if (!archive || !package.compiled) return out;
  const std::string folder = "data/aotinductor/" + package.compiled->name + "/";
  for (const Archive::Member& member : archive->members()) {
    std::string_view name = member.name;
    if (name.starts_with(archive->root())) name.remove_prefix(archive->root().size());
    if (!name.starts_with(folder) || !name.ends_with(".cpp")) continue;
    if (Result<std::string> text = archive->read(name))
      out.push_back({std::string(name.substr(folder.size())), std::move(*text)});
  }
  return out;
}

std::vector<KernelText> kernel_texts(const GeneratedFile& file) {
  std::vector<KernelText> out;
  const std::vector<std::string_view> lines = lines_of_text(file.text);
  const auto take = [&](std::string kernel, size_t first, size_t last) {
    KernelText one{std::move(kernel), file.name, first + 1, ""};
    for (size_t i = first; i <= last; ++i) one.text += std::string(lines[i]) + "\n";
    out.push_back(std::move(one));
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("extern \"C\"")) {
      const size_t open = lines[i].find('(');
      const size_t last = end_of_function(lines, i);
      if (open == std::string_view::npos || last == i) continue;
      take(word_before(lines[i], open), i, last);
      i = last;
    } else if (const size_t at = lines[i].find("async_compile.triton('"); at != std::string_view::npos) {
      const std::string_view name = lines[i].substr(at + 22);
      size_t last = i + 1;
      while (last < lines.size() && lines[last].find("''',") == std::string_view::npos) ++last;
      if (last >= lines.size()) continue;
      take(std::string(name.substr(0, name.find('\''))), i, last);
      i = last;
    }
  }
  return out;
}

std::vector<KernelText> kernel_texts(const PackageInfo& package) {
  std::vector<KernelText> out;
  const auto known = [&](const std::string& kernel) {
    return std::any_of(out.begin(), out.end(), [&](const KernelText& one) { return one.kernel == kernel; });
  };
  for (const GeneratedFile& file : generated_files(package))
    for (KernelText& one : kernel_texts(file))
      if (!known(one.kernel)) out.push_back(std::move(one));
  if (package.kernels)
    for (const auto& [kernel, text] : package.kernels->sources)
      if (!known(kernel)) out.push_back({kernel, kernel, 0, text});
  return out;
}

}  // namespace aotifuzz
