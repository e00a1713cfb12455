#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "campaign/summary.h"
#include "store/worker_arguments.h"
#include "targets/budget_options.h"
#include "targets/ci_options.h"
#include "targets/engine_options.h"
#include "targets/excuse_options.h"

namespace aotifuzz {

/// `aotifuzz fuzz`: the main job.
class FuzzCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  void write_ci(const CampaignResult& result, const SummaryContext& context, const std::string& out) const;

  BudgetOption budget_;
  EngineOption engine_;
  CiOptions ci_;
  ExcuseOptions excuses_;
  std::string package_, model_, reference_, device_, torch_, out_, timeout_ = "10s", fail_on_, generator_ = "mixed";
  std::vector<std::string> ops_, start_with_;
  std::optional<uint64_t> cases_;
  uint64_t seed_ = 1;
  int64_t memory_mib_ = 0, kernels_every_ = WorkerArguments::kKernelsEvery;
  int reduce_runs_ = 200, jobs_ = 1;
  bool json_ = false, json_lines_ = false, quiet_ = false, no_sanitize_ = false, swarm_ = true;
};

}  // namespace aotifuzz
