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

}  // namespace

AuditReductions reduce_lines(AuditRunner& runner, std::vector<AuditReducible>& lines, int confirm_runs,
                             const std::function<void(const AuditReducible&)>& written) {
  AuditReductions out;
  for (size_t i = 0; i < lines.size(); ++i) {
    AuditLine& line = *lines[i].line;
    if (runner.ended()) {
      out.cut_short += static_cast<int>(lines.size() - i);
      break;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(runner.deadline() - Clock::now());
    ReducerOptions options;
    options.runs_max = kRunsMax;
    options.time_max = std::min(kLineMax, left / static_cast<int64_t>(lines.size() - i));
    options.keeps = [&, checks = line.input.input_checks](const Case& candidate) {
      return candidate.input_checks == checks && (!lines[i].shows || lines[i].shows(candidate));
    };
    runner.executor().set_careful(false);
    const auto reduced = reduce_confirmed(runner.context(), runner.executor(), line.input, *line.verdict, options,
                                          confirm_runs, [&] { return runner.ended(); });
    if (!reduced) {
      ++out.unconfirmed;
      continue;
    }
    out.runs += reduced->runs + reduced->confirmation.tries;
    const Confirmation& seen = reduced->confirmation;
    if (seen.reproduced < seen.tries) {
      ++out.unconfirmed;
      continue;
    }
    ++(reduced->reduction.one_minimal ? out.lines : out.cut_short);
    line.one_minimal = reduced->reduction.one_minimal;
    if (reduced->reduction.minimal == line.input) continue;
    line.input = reduced->reduction.minimal;
    // Kernels are named by a careful run: one more, since the searches were none.
    runner.executor().set_careful(true);
    const Confirmation named =
        confirm(runner.context(), runner.executor(), line.input, finding_key(*line.verdict), {}, 1);
    ++out.runs;
    line.reproduced = seen.reproduced + named.reproduced;
    line.tries = seen.tries + named.tries;
    line.verdict = named.verdict ? named.verdict : seen.verdict;
    written(lines[i]);
  }
  return out;
}

}  // namespace aotifuzz
