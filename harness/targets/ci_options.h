#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "store/ci_report.h"
#include "store/result_file.h"

namespace aotifuzz {

/// `--junit FILE --sarif FILE --github`: what a command found, for CI systems.
class CiOptions {
 public:
  void declare(CLI::App& app);
  /// As --github, where GITHUB_ACTIONS says that GitHub reads the output.
  void annotate_on_github();
  bool any() const { return !junit_.empty() || !sarif_.empty() || github_; }
  /// Throws as require_result_files() does; to be called before any work. `others`: further files of the command.
  void check(const std::vector<std::string>& inputs, std::vector<ResultFile> others = {}) const;
  /// Writes what was asked for. Annotations go to stdout, or to stderr where stdout holds JSON: GitHub reads both.
  /// Throws HarnessError for a file that cannot be written.
  void write(CiReport report, bool stdout_is_json) const;

 private:
  std::string junit_, sarif_;
  bool github_ = false;
};

}  // namespace aotifuzz
