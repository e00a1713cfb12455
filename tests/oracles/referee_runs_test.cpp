#include "oracles/referee_runs.h"

#include <gtest/gtest.h>

#include "oracles/legal_sampler.h"

namespace aotifuzz {
namespace {

RunRecords records_of_stage(int stage, OutcomeKind sampled = OutcomeKind::kFinished) {
  RunRecords records;
  for (int s = 1; s <= stage; ++s)
    for (const RunRequest& request : referee_requests(s)) {
      RunRecord record;
      record.request = request;
      if (request.kind == RunKind::kReferenceSampled) record.outcome.kind = sampled;
      records.add(record);
    }
  return records;
}

TEST(RefereeRuns, CountsStages) {
  for (int stage = 0; stage <= kRefereeStages; ++stage)
    EXPECT_EQ(collect_referee_runs(records_of_stage(stage)).stage, stage);
}

TEST(RefereeRuns, TellsRoundingFromUndefinedSamples) {
  const RunRecords records = records_of_stage(2);
  const RefereeRuns runs = collect_referee_runs(records);
  EXPECT_EQ(runs.rounded.size(), 8u);
  EXPECT_EQ(runs.undefined.size(), 4u);
  for (const RunRecord* record : runs.undefined) EXPECT_TRUE(record->request.seed & kUndefinedSeed);
}

TEST(RefereeRuns, IsNotAvailableWhenTheCentreOrMostSamplesFail) {
  EXPECT_FALSE(collect_referee_runs(records_of_stage(0)).available());
  const RunRecords records = records_of_stage(1, OutcomeKind::kRejected);
  EXPECT_FALSE(collect_referee_runs(records).available());
}

TEST(WithoutNumbers, HidesSizesAndKeepsNames) {
  EXPECT_EQ(without_numbers("index 12 is out of bounds for size 9"), "index # is out of bounds for size #");
  EXPECT_EQ(without_numbers("conv2d of float64 arg0_1"), "conv2d of float64 arg0_1");
  EXPECT_EQ(without_numbers("size [3, 40]"), "size [#, #]");
  EXPECT_EQ(without_numbers(""), "");
}

}  // namespace
}  // namespace aotifuzz
