#include "oracles/leak_oracle.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

/// How many times as many runs a growth must go on for.
constexpr uint64_t kLonger = 3;

}  // namespace

std::vector<RunRequest> LeakOracle::plan(const CaseContext& context) const {
  std::vector<RunRequest> out;
  if (context.input.runs < static_cast<int>(kRunsLeast)) return out;
  if (context.has_reference) out.push_back({RunKind::kReference, 0});
  out.push_back({RunKind::kSubject, 0});
  out.push_back({RunKind::kSubjectMany, static_cast<uint64_t>(context.input.runs)});
  return out;
}

double LeakOracle::bytes_per_run(std::span<const int64_t> in_use) {
  const size_t warm = in_use.size() / 4, stretch = (in_use.size() - 1 - warm) / 3;
  int64_t least = 0, most = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t grown = in_use[warm + (i + 1) * stretch] - in_use[warm + i * stretch];
    least = i == 0 ? grown : std::min(least, grown);
    most = i == 0 ? grown : std::max(most, grown);
  }
  if (least <= 0 || most > 2 * least) return 0;
  return static_cast<double>(in_use[warm + 3 * stretch] - in_use[warm]) / static_cast<double>(3 * stretch);
}

Judgement LeakOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* many = runs.find({RunKind::kSubjectMany, static_cast<uint64_t>(context.input.runs)});
  if (!many) return only(skip_verdict(name(), "no run: subject-many"));
  if (!many->not_made.empty()) return only(skip_verdict(name(), many->not_made));
  if (many->outcome.kind == OutcomeKind::kOutOfMemory) return only(skip_verdict(name(), "out-of-memory"));
  const bool refused = many->outcome.kind == OutcomeKind::kRejected;
  if (!refused && !may_be_legal(context, runs)) return only(skip_verdict(name(), "illegal input"));
  if (many->memory_in_use.size() < kRunsLeast) return only(skip_verdict(name(), "too few runs"));
  const double grown = bytes_per_run(many->memory_in_use);
  if (grown == 0) return only(pass_verdict(name()));
  // The host allocator's own bookkeeping grows by some bytes a call for a while, and then no more; a leak goes on.
  const RunRequest further{RunKind::kSubjectMany, kLonger * static_cast<uint64_t>(context.input.runs)};
  const RunRecord* longer = runs.find(further);
  if (!longer) return Judgement{{}, {further}};
  if (longer->outcome.kind == OutcomeKind::kOutOfMemory) return only(skip_verdict(name(), "out-of-memory"));
  if (longer->memory_in_use.size() < kRunsLeast) return only(skip_verdict(name(), "too few runs"));
  const double goes_on = bytes_per_run(longer->memory_in_use);
  if (goes_on < grown / 2) return only(pass_verdict(name()));
  const bool fault = is_legal(context, runs) && !(refused && context.input.input_checks);
  Verdict verdict = fail_verdict(name(), VerdictClass::kLeak, fault,
                                 "memory in use grows by " + std::to_string(std::llround(goes_on)) +
                                     " bytes with each " + (refused ? "refused call" : "call") + " of the package",
                                 refused ? "refused calls" : "calls");
  verdict.measures.emplace_back("runs", std::to_string(longer->memory_in_use.size()));
  verdict.measures.emplace_back("bytes in use after the first", std::to_string(longer->memory_in_use.front()));
  verdict.measures.emplace_back("bytes in use after the last", std::to_string(longer->memory_in_use.back()));
  return only(std::move(verdict));
}

}  // namespace aotifuzz
