#include "core/outcome.h"

#include "core/check.h"

namespace aotifuzz {

std::string_view outcome_kind_name(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kFinished:
      return "finished";
    case OutcomeKind::kRejected:
      return "rejected";
    case OutcomeKind::kCrashed:
      return "crashed";
    case OutcomeKind::kTimedOut:
      return "timed-out";
    case OutcomeKind::kOutOfMemory:
      return "out-of-memory";
  }
  AOTIFUZZ_CHECK(false) << static_cast<int>(kind);
  return "";
}

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kIdle:
      return "idle";
    case Stage::kParse:
      return "parse";
    case Stage::kMaterialise:
      return "materialise";
    case Stage::kReference:
      return "reference";
    case Stage::kSubject:
      return "subject";
    case Stage::kSubjectAgain:
      return "subject-again";
    case Stage::kReferee:
      return "referee";
    case Stage::kJudge:
      return "judge";
    case Stage::kTeardown:
      return "teardown";
  }
  // The stage may come from a dead worker's shared memory: any number is possible there.
  return "unknown";
}

}  // namespace aotifuzz
