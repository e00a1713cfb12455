#include "worker/unpacked_folder.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

namespace aotifuzz {
namespace {

constexpr std::string_view kRoot = "/tmp/";  // torch's loader does not look at TMPDIR
constexpr size_t kRandomLetters = 6;         // mkdtemp("/tmp/XXXXXX")
constexpr std::string_view kInside = "/data/aotinductor/";

}  // namespace

std::string unpacked_folder_of(std::string_view path) {
  const size_t end = kRoot.size() + kRandomLetters;
  if (!path.starts_with(kRoot) || path.size() <= end || path[end] != '/') return "";
  for (char c : path.substr(kRoot.size(), kRandomLetters))
    if (!std::isalnum(static_cast<unsigned char>(c))) return "";
  // Below it lies one folder, named as the archive is.
  const size_t inside = path.find(kInside, end + 1);
  if (inside == std::string_view::npos || path.substr(end + 1, inside - end - 1).find('/') != std::string_view::npos)
    return "";
  return std::string(path.substr(0, end));
}

std::vector<std::string> unpacked_folders() {
  std::set<std::string> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t start = line.find('/');
    if (start == std::string::npos) continue;
    if (std::string folder = unpacked_folder_of(std::string_view(line).substr(start)); !folder.empty())
      folders.insert(std::move(folder));
  }
  return {folders.begin(), folders.end()};
}

void remove_unpacked_folders() {
  std::error_code ignored;  // gone already, or not ours to remove: either way nothing is lost
  for (const std::string& folder : unpacked_folders()) std::filesystem::remove_all(folder, ignored);
}

}  // namespace aotifuzz
