#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "targets/package_options.h"

namespace aotifuzz {

/// `aotifuzz minimize`: shrink a case further, or say that it is 1-minimal.
class MinimizeCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  PackageOptions package_;
  std::string path_, timeout_ = "10s";
  int64_t memory_mib_ = 0;
  int reduce_runs_ = 1000;
  bool in_place_ = false;
};

}  // namespace aotifuzz
