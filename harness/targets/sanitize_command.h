#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "targets/package_options.h"

namespace aotifuzz {

/// `aotifuzz sanitize`: the case under NVIDIA's compute-sanitizer.
class SanitizeCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  PackageOptions package_;
  std::string path_, tool_ = "memcheck", timeout_ = "10m";
  bool json_ = false;
};

}  // namespace aotifuzz
