#include "worker/unpacked_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

namespace aotifuzz {
namespace {

// Where torch's loader unpacks archives to: mkdtemp("/tmp/XXXXXX"), whatever TMPDIR says; newer versions use
// "aotinductor_XXXXXX" in the folder for temporary files. Seen on 2.11.0 and on 2.15.0.
constexpr std::string_view kOldRoot = "/tmp/";
constexpr std::string_view kPrefix = "/aotinductor_";
constexpr size_t kRandomLetters = 6;
constexpr std::string_view kInside = "/data/aotinductor/";

bool is_random(std::string_view name) {
  return name.size() == kRandomLetters &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace

std::string unpacked_folder_of(std::string_view path) {
  const size_t inside = path.find(kInside);
  if (inside == std::string_view::npos) return "";
  // Below it lies one folder, named as the archive is.
  const size_t archive = path.substr(0, inside).rfind('/');
  if (archive == std::string_view::npos || archive == 0) return "";
  const std::string_view folder = path.substr(0, archive);
  const std::string_view name = folder.substr(folder.rfind('/') == folder.npos ? 0 : folder.rfind('/'));
  const bool is_old = folder.starts_with(kOldRoot) && is_random(folder.substr(kOldRoot.size()));
  const bool is_new = name.starts_with(kPrefix) && is_random(name.substr(kPrefix.size()));
  return is_old || is_new ? std::string(folder) : "";
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
