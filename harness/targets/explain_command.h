#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "targets/package_options.h"

namespace aotifuzz {

/// `aotifuzz explain`: what an error means, what is at fault, what to change.
class ExplainCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  PackageOptions package_;
  std::string file_, case_, trace_, timeout_ = "10s";
  int reduce_runs_ = 300;
  bool json_ = false;
};

}  // namespace aotifuzz
