#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aotifuzz {

/// `aotifuzz inspect`: what a package is. Starts no worker and runs none of the package's code.
class InspectCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string package_, model_, reference_, trace_;
  bool json_ = false, kernels_ = false, dot_ = false;
};

}  // namespace aotifuzz
