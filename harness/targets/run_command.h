#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "campaign/run_inputs.h"
#include "campaign/run_modes.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// `aotifuzz run`: a package once on given inputs, in every mode.
class RunCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  RunInputs read_inputs(PackageSession& session) const;
  void require_allowed(const PackageSession& session, const Case& c) const;
  std::string save_case(const CorpusEntry& entry, const ModesResult& result) const;

  std::string package_, model_, reference_, device_, torch_, save_case_, timeout_ = "60s", fail_on_ = "gaps";
  std::vector<std::string> inputs_, ops_;
  int64_t memory_mib_ = 0;
  uint64_t seed_ = 0;
  bool anyway_ = false, json_ = false;
};

}  // namespace aotifuzz
