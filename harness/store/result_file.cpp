#include "store/result_file.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

/// The same text for the same file, whether it is there or not.
fs::path place_of(const std::string& path) {
  std::error_code error;
  // A relative path of which nothing exists would stay as it is spelled.
  const fs::path absolute = fs::absolute(path, error), place = fs::weakly_canonical(absolute, error);
  return error ? absolute : place;
}

bool is_special(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Empty, XML or JSON: what this program or another one like it wrote.
bool is_earlier_result(const fs::path& place) {
  std::ifstream in(place, std::ios::binary);
  const int first = in.get();
  return !in || first == '<' || first == '{' || first == '[';
}

void require_writable(const ResultFile& file, const fs::path& place) {
  const std::string where = file.flag + " " + file.path;
  std::error_code error;
  if (fs::is_directory(place, error)) throw HarnessError("a folder, not a file", where, "give the name of a file");
  if (fs::exists(place, error)) {
    if (::access(place.c_str(), W_OK) != 0)
      throw HarnessError("the file may not be written", where, "give another file, or change its permissions");
    return;
  }
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error))
    throw HarnessError("there is no such folder", where, "create " + folder.string());
  if (::access(folder.c_str(), W_OK) != 0)
    throw HarnessError("the folder may not be written to", where, "give another place, or change its permissions");
  // What may be written to by its permissions need not take files (/proc).
  std::string probe = (folder / ".aotifuzz-probe-XXXXXX").string();
  const int fd = ::mkstemp(probe.data());
  if (fd < 0) throw HarnessError("no file can be created there", where, "give another place");
  ::close(fd);
  ::unlink(probe.c_str());
}

}  // namespace

void require_result_files(const std::vector<ResultFile>& files, const std::vector<std::string>& inputs, bool any_text) {
  std::vector<std::pair<fs::path, std::string>> taken;
  for (const std::string& input : inputs)
    if (!input.empty()) taken.emplace_back(place_of(input), input);
  for (const ResultFile& file : files) {
    const fs::path place = place_of(file.path);
    if (file.path.empty() || is_special(place)) continue;
    const std::string where = file.flag + " " + file.path;
    for (const auto& [other, name] : taken)
      if (other == place)
        throw UsageError("the file has another use: " + name, where, "give each result a file of its own");
    taken.emplace_back(place, where);
    require_writable(file, place);
    if (!any_text && !is_earlier_result(place))
      throw UsageError("the file holds no earlier result, and what it holds would be lost", where,
                       "give another name, or remove the file");
  }
}

void require_result_folder(const ResultFile& folder) {
  if (folder.path.empty()) return;
  const std::string where = folder.flag + " " + folder.path;
  std::error_code error;
  fs::path there = place_of(folder.path);
  while (!fs::exists(fs::status(there, error)) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error))
    throw UsageError("a file stands where the folder would be: " + there.string(), where, "give another name");
  // Rights alone do not tell: /proc takes no folder of anybody.
  const fs::path probe = there / (std::string(kUnfinished) + "probe-" + std::to_string(::getpid()));
  if (!fs::create_directory(probe, error))
    throw HarnessError("the folder cannot be written to: " + error.message(), where,
                       "give another place, or change the permissions of " + there.string());
  fs::remove(probe, error);
}

void write_result_file(const std::string& path, std::string_view text) {
  const fs::path place = place_of(path);
  if (!is_special(place)) return write_file_whole(place.string(), text);
  std::ofstream out(place, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw HarnessError("cannot write the result", path, "give another file");
}

}  // namespace aotifuzz
