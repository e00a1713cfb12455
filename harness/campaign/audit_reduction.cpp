#include "campaign/audit_reduction.h"

#include <algorithm>
#include <utility>

#include "campaign/confirmed_reduction.h"

namespace aotifuzz {
namespace {

using Clock = AuditRunner::Clock;
using std::chrono::milliseconds;

// A case of an audit is small to begin with: what takes longer is a case that is slow.
constexpr milliseconds kLineMax{5'000};
constexpr int kRunsMax = 100;
// Where little time is left, some lines get enough of it rather than each too little.
constexpr int kLinesAtOnce = 2;

}  // namespace

AuditReductions reduce_lines(AuditRunner& runner, std::vector<AuditReducible>& lines, int confirm_runs,
                             const std::function<void(const AuditReducible&)>& written) {
  AuditReductions out;
  for (size_t i = 0; i < lines.size(); ++i) {
    AuditLine& line = *lines[i].line;
    // Confirming comes after the search, and must fit in too.
    const auto confirming = std::chrono::duration_cast<milliseconds>(runner.confirming(confirm_runs));
    const auto left = std::chrono::duration_cast<milliseconds>(runner.deadline() - Clock::now());
    const auto share = std::max(left / static_cast<int64_t>(lines.size() - i), std::min(left, kLineMax) / kLinesAtOnce);
    if (runner.ended() || share <= confirming) {
      ++out.cut_short;
      continue;
    }
    ReducerOptions options;
    options.runs_max = kRunsMax;
    options.time_max = std::min(kLineMax, share - confirming);
    options.keeps = [&, checks = line.input.input_checks](const Case& candidate) {
      return candidate.input_checks == checks && (!lines[i].shows || lines[i].shows(candidate));
    };
    // The last confirming run is careful, so that the verdict names the kernel.
    runner.executor().set_careful(false);
    const auto reduced = reduce_confirmed(runner.context(), runner.executor(), line.input, *line.verdict, options,
                                          std::max(confirm_runs - 1, 1), [&] { return runner.ended(); });
    if (!reduced) {
      ++out.unconfirmed;
      continue;
    }
    const Reduction& best = reduced->reduction;
    runner.executor().set_careful(true);
    const Confirmation careful =
        confirm(runner.context(), runner.executor(), best.minimal, finding_key(*line.verdict), {}, 1);
    const int tries = reduced->confirmation.tries + careful.tries;
    const int reproduced = reduced->confirmation.reproduced + careful.reproduced;
    out.runs += reduced->runs + tries;
    if (reproduced < tries || !careful.verdict) {
      ++out.unconfirmed;
      continue;
    }
    ++(best.one_minimal ? out.lines : out.cut_short);
    line.one_minimal = best.one_minimal;
    if (best.minimal == line.input) continue;
    line.input = best.minimal;
    line.verdict = careful.verdict;
    line.reproduced = reproduced;
    line.tries = tries;
    written(lines[i]);
  }
  return out;
}

}  // namespace aotifuzz
