#include "campaign/statistics.h"

#include <algorithm>

namespace aotifuzz {
namespace {

std::string death_name(const WorkerDeath& death) {
  switch (death.kind) {
    case WorkerDeath::Kind::kSignal:
      return signal_name(death.signal);
    case WorkerDeath::Kind::kExit:
      return "exit status " + std::to_string(death.status);
    case WorkerDeath::Kind::kHang:
      return "hang";
    case WorkerDeath::Kind::kDeviceFault:
      return "device fault: " + death.device_error;
    case WorkerDeath::Kind::kOutOfMemory:
      return "out-of-memory";
    case WorkerDeath::Kind::kLost:
      return "worker lost";
  }
  return "";
}

}  // namespace

void Statistics::add(const CaseResult& result, const std::vector<Verdict>& all) {
  ++cases;
  if (result.death) {
    ++deaths;
    ++outcomes[death_name(*result.death)];
  } else if (result.report) {
    for (const RunSummary& run : result.report->runs)
      if (run.run == "subject") {
        ++outcomes[std::string(outcome_kind_name(run.outcome.kind))];
        break;
      }
  }
  bool any = false;
  for (const Verdict& verdict : all) {
    ++verdicts[verdict.oracle + ": " + std::string(verdict_status_name(verdict.status))];
    if (verdict.status == VerdictStatus::kSkip) {
      ++skips[verdict.oracle + ": " + verdict.reason];
      continue;
    }
    if (verdict.status == VerdictStatus::kMistrusted) ++mistrusted[verdict.oracle + ": " + verdict.reason];
    any = true;
  }
  if (any) ++judged;
}

double Statistics::cases_per_second() const {
  const double fuzzing_us = std::max(elapsed_us * jobs - reduction_us, 1.0);
  return 1e6 * static_cast<double>(cases) / fuzzing_us * jobs;
}

}  // namespace aotifuzz
