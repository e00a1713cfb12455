#pragma once

#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "campaign/triage.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// What became of one case on this package.
struct ReplayResult {
  enum class Status {
    kStillFails,  ///< as expected, each time
    kFlaky,       ///< as expected, but not each time
    kChanged,     ///< fails, otherwise than expected
    kFixed,       ///< judged, and nothing fails
    kNotJudged,   ///< no oracle could say anything about it
    kFails,       ///< nothing was expected of it, and it fails
    kPasses,      ///< nothing was expected of it, and it passes
  };
  Status status = Status::kPasses;
  int reproduced = 0, tries = 0;
  std::vector<Verdict> verdicts;   ///< of the last run that tells most: one that fails, where there is one
  std::vector<std::string> fails;  ///< distinct finding keys seen
  bool fault = false;              ///< what fails (or failed, when fixed) is a fault
  bool expected_to_fail = true;    ///< with this torch; false where the expectation names other versions only
  std::string note;                ///< what was not looked for, and why; "" = everything was

  bool fails_now() const {
    return status == Status::kStillFails || status == Status::kFlaky || status == Status::kChanged ||
           status == Status::kFails;
  }
};

/// Of a corpus of known failures: not what the expectation says of this torch.
bool is_surprise(const ReplayResult& result);

std::string_view replay_status_name(ReplayResult::Status status);  ///< "still fails"

/// Runs the entry `times` times, each in a fresh process, and compares with what is expected of `torch` (the version
/// that compiled the package; "" = not known).
ReplayResult replay(const TriageContext& context, CaseExecutor& executor, const CorpusEntry& entry, int times,
                    const std::string& torch = "");

/// What the verdicts of one run, of which nothing was expected, come to.
ReplayResult as_replay(std::vector<Verdict> verdicts, bool has_reference);

/// One line, or a few for a case of which nothing was expected.
std::string print_replay(const CorpusEntry& entry, const ReplayResult& result);

}  // namespace aotifuzz
