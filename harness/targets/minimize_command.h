#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aotifuzz {

/// `aotifuzz minimize`: shrink a case further, or say that it is 1-minimal.
class MinimizeCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string path_, package_, model_, reference_, device_, models_, timeout_ = "10s";
  std::vector<std::string> ops_;
  int64_t memory_mib_ = 0;
  int reduce_runs_ = 1000;
  bool in_place_ = false;
};

}  // namespace aotifuzz
