#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "campaign/engine_process.h"

namespace aotifuzz {

/// `--engine libfuzzer|random --corpus DIR [-- FLAGS of libFuzzer]`: what decides which case comes next.
class EngineOption {
 public:
  void declare(CLI::App& app);
  /// Throws UsageError, before anything is started.
  void check();
  bool guided() const { return engine_ == kLibFuzzer; }
  /// Flags that only ask for libFuzzer's own help.
  bool asks_for_help() const;
  /// Becomes libFuzzer and prints its flags. Throws HarnessError when this build has none.
  [[noreturn]] void show_help() const;
  /// The engine of one job. Its units are in --corpus, else in `out`, a folder for each package.
  std::unique_ptr<EngineProcess> start(const std::string& out, const std::string& package_hash, uint64_t seed) const;

 private:
  static constexpr const char* kLibFuzzer = "libfuzzer";
  std::string engine_ = "random", corpus_;
  std::vector<std::string> flags_;
};

}  // namespace aotifuzz
