#include "core/outcome.h"

#include <gtest/gtest.h>

#include <set>

namespace aotifuzz {
namespace {

TEST(Outcome, EveryKindAndStageHasItsOwnName) {
  std::set<std::string_view> kinds, stages;
  for (int i = 0; i <= static_cast<int>(OutcomeKind::kOutOfMemory); ++i)
    kinds.insert(outcome_kind_name(static_cast<OutcomeKind>(i)));
  EXPECT_EQ(kinds.size(), 5u);
  for (int i = 0; i <= static_cast<int>(Stage::kTeardown); ++i) stages.insert(stage_name(static_cast<Stage>(i)));
  EXPECT_EQ(stages.size(), 9u);
}

TEST(Outcome, AStageThatADeadWorkerLeftHalfWrittenStillPrints) {
  EXPECT_EQ(stage_name(static_cast<Stage>(12345)), "unknown");
}

}  // namespace
}  // namespace aotifuzz
