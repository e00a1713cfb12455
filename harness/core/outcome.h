#pragma once

#include <string>
#include <string_view>

namespace aotifuzz {

/// How one run ended. A crash or a hang ends the worker, so only the parent ever states those two.
enum class OutcomeKind { kFinished, kRejected, kCrashed, kTimedOut, kOutOfMemory };

/// Where a run (or a worker) was: written to the flight recorder before each step.
enum class Stage : int {
  kIdle, kParse, kMaterialise, kReference, kSubject, kSubjectAgain, kReferee, kJudge, kTeardown,
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kFinished;
  Stage stage = Stage::kIdle;
  std::string message;  ///< first line of the error, addresses removed; "SIGSEGV" for a crash
};

std::string_view outcome_kind_name(OutcomeKind kind);
std::string_view stage_name(Stage stage);

}  // namespace aotifuzz
