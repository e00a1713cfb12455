#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// `aotifuzz replay`: do the cases still fail?
class ReplayCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  SessionRequest request_for(const CorpusEntry& entry, std::chrono::milliseconds timeout) const;

  std::string path_, package_, model_, reference_, device_, models_, timeout_ = "10s", fail_on_;
  std::vector<std::string> ops_;
  int64_t memory_mib_ = 0;
  int times_ = 5;
  bool expect_failing_ = false;
  bool json_ = false;
};

}  // namespace aotifuzz
