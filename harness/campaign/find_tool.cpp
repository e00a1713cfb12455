#include "campaign/find_tool.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace aotifuzz {

std::optional<Tool> find_tool(const std::string& program, const std::string& version_flag) {
  const char* path = std::getenv("PATH");
  std::string folders = (path ? std::string(path) : "") + ":/usr/local/cuda/bin";
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string candidate = folders.substr(at, end - at) + "/" + program;
    at = end + 1;
    if (candidate.front() != '/' || ::access(candidate.c_str(), X_OK) != 0 ||
        !std::filesystem::is_regular_file(candidate))
      continue;
    Tool tool{candidate, ""};
    if (FILE* out = ::popen(("'" + candidate + "' " + version_flag + " 2>/dev/null").c_str(), "r")) {
      std::array<char, 512> line{};
      // Tools print a title and a copyright first: the line that names the version is what is wanted.
      while (std::fgets(line.data(), line.size(), out)) {
        std::string text(line.data());
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
        const bool names = text.find("ersion") != std::string::npos || text.find("release") != std::string::npos;
        if (tool.version.empty() || names) tool.version = text;
        if (names) break;
      }
      ::pclose(out);
    }
    return tool;
  }
  return std::nullopt;
}

}  // namespace aotifuzz
