#include "store/campaign_record.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

CampaignRecord example() {
  CampaignRecord record;
  record.package = "m.pt2";
  record.conditions = {"x.size(0) <= 64"};
  record.dimensions["x.size(0)"] = {2, 16, 3, {2, 16, 64}, {2, 16}, {64}};
  record.layouts = {{"dense", 3}};
  record.cells = {"a", "b"};
  record.cases = 3;
  record.judged = 2;
  record.seconds = 10;
  record.runs = {{1'700'000'000, 10, 3, {{1, 0, 3}}}};
  record.samples = {{1, 1, 1, 0}, {10, 3, 2, 1}};
  return record;
}

TEST(CampaignRecord, ComesBackAsItWas) {
  const CampaignRecords records = {{"00aa", example()}};
  const std::string text = print_campaign_records(records);
  const auto back = parse_campaign_records(text);
  ASSERT_TRUE(back) << back.error().where;
  EXPECT_EQ(print_campaign_records(*back), text);
  EXPECT_EQ(back->at("00aa").dimensions.at("x.size(0)").hit, (std::set<int64_t>{2, 16}));
  EXPECT_EQ(back->at("00aa").samples[1].cells, 2u);
}

TEST(CampaignRecord, HostileTextIsAnError) {
  for (const char* text : {"", "[]", "{}", "{\"version\": 9}", "{\"version\": 1, \"packages\": [1]}",
                           "{\"version\": 1, \"packages\": {\"a\": {\"cases\": \"x\"}}}",
                           "{\"version\": 1, \"packages\": {\"a\": {\"samples\": {}}}}"})
    EXPECT_FALSE(parse_campaign_records(text)) << text;
}

TEST(CampaignRecord, ARunIsAddedToTheEarlierOnes) {
  CampaignRecord now = example();
  now.dimensions["x.size(0)"] = {0, 8, 2, {0, 8, 64}, {0}, {64}};
  now.cells = {"b", "c"};
  const CampaignRecord both = merged(example(), now);
  EXPECT_EQ(both.cases, 6u);
  EXPECT_EQ(both.judged, 4u);
  EXPECT_EQ(both.seconds, 20);
  EXPECT_EQ(both.layouts.at("dense"), 6u);
  EXPECT_EQ(both.dimensions.at("x.size(0)").least, 0);
  EXPECT_EQ(both.dimensions.at("x.size(0)").greatest, 16);
  EXPECT_EQ(both.dimensions.at("x.size(0)").hit, (std::set<int64_t>{0, 2, 16}));
  EXPECT_EQ(both.cells, (std::set<std::string>{"a", "b", "c"}));
  ASSERT_EQ(both.runs.size(), 2u);
  ASSERT_EQ(both.samples.size(), 4u);
  EXPECT_EQ(both.samples[2].seconds, 11);
  EXPECT_EQ(both.samples[2].cases, 4u);
  EXPECT_EQ(both.samples[3].findings, 1u) << "what is known is not counted twice";
}

TEST(CampaignRecord, ADimensionThatNoCaseHadHasNoSpan) {
  CampaignRecord earlier = example();
  earlier.dimensions["y.size(0)"] = {};
  CampaignRecord now = example();
  now.dimensions["y.size(0)"] = {5, 7, 1, {}, {}, {}};
  EXPECT_EQ(merged(earlier, now).dimensions.at("y.size(0)").least, 5);
  EXPECT_EQ(merged(now, earlier).dimensions.at("y.size(0)").least, 5);
}

}  // namespace
}  // namespace aotifuzz
