#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aotifuzz {

/// `aotifuzz sanitize`: the case under NVIDIA's compute-sanitizer.
class SanitizeCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string path_, package_, model_, device_, models_, tool_ = "memcheck", timeout_ = "10m";
  std::vector<std::string> ops_;
  bool json_ = false;
};

}  // namespace aotifuzz
