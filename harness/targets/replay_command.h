#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "targets/ci_options.h"
#include "targets/excuse_options.h"
#include "targets/package_options.h"

namespace aotifuzz {

/// `aotifuzz replay`: do the cases still fail?
class ReplayCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  /// `--torch A,B,...`: each case with each version.
  int run_versions();

  PackageOptions package_;
  CiOptions ci_;
  ExcuseOptions excuses_;
  std::string path_, timeout_ = "10s", pack_timeout_ = "15m", fail_on_, html_;
  int64_t memory_mib_ = 0;
  int times_ = 5;
  bool expect_failing_ = false;
  bool json_ = false;
};

}  // namespace aotifuzz
