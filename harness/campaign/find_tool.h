#pragma once

#include <optional>
#include <string>

namespace aotifuzz {

/// First line that `program --version` (or as given) prints, and where it lies; nullopt when there is no such program.
struct Tool {
  std::string path, version;
};
std::optional<Tool> find_tool(const std::string& program, const std::string& version_flag = "--version");

}  // namespace aotifuzz
