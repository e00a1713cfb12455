#include "campaign/confirmation.h"

namespace aotifuzz {
namespace {

void count(const TriageContext& context, CaseExecutor& executor, const std::vector<Case>& before, const Case& c,
           const std::string& key, int tries, Confirmation* out) {
  out->reproduced = out->tries = 0;
  for (int i = 0; i < tries; ++i) {
    ++out->tries;
    if (auto verdict = replay_once(context, executor, before, c, key)) {
      ++out->reproduced;
      out->verdict = std::move(verdict);
    }
  }
}

}  // namespace

std::optional<Verdict> replay_once(const TriageContext& context, CaseExecutor& executor,
                                   const std::vector<Case>& before, const Case& c, const std::string& key) {
  executor.renew();
  for (const Case& earlier : before) {
    const CaseResult result = executor.run(earlier);
    // What dies by itself leaves no damaged process behind for `c`.
    if (result.death) return std::nullopt;
  }
  const std::vector<Verdict> verdicts = judge_result(context, c, executor.run(c));
  if (const Verdict* verdict = find_failed(verdicts, key)) return *verdict;
  return std::nullopt;
}

Confirmation confirm(const TriageContext& context, CaseExecutor& executor, const Case& c, const std::string& key,
                     const std::vector<Case>& earlier, int tries) {
  Confirmation out;
  count(context, executor, {}, c, key, tries, &out);
  if (out.reproduced > 0 || earlier.empty()) return out;
  if (!replay_once(context, executor, earlier, c, key)) return out;
  // Latest first: damage shows soon after it is done.
  for (size_t i = earlier.size(); i-- > 0;) {
    Confirmation with;
    with.before = {earlier[i]};
    count(context, executor, with.before, c, key, tries, &with);
    if (with.reproduced > 0) return with;
  }
  // More than one is needed: drop what can be dropped.
  Confirmation several;
  several.before = earlier;
  for (size_t i = several.before.size(); i-- > 0 && several.before.size() > 1;) {
    std::vector<Case> fewer = several.before;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (replay_once(context, executor, fewer, c, key)) several.before = std::move(fewer);
  }
  count(context, executor, several.before, c, key, tries, &several);
  return several.reproduced > 0 ? several : out;
}

}  // namespace aotifuzz
