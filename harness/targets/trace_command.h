#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aotifuzz {

/// `aotifuzz trace`: what flows through the kernels of a package, without a rebuild.
class TraceCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string package_, case_, model_, reference_, level_ = "stats", save_, upstream_, torch_, timeout_ = "60s";
  std::vector<std::string> ops_, kernels_;
  bool nan_ = false, json_ = false;
};

}  // namespace aotifuzz
