#include "campaign/guided_draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "campaign/feedback.h"
#include "core/error.h"
#include "store/atomic_file.h"
#include "store/case_text.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Draws small sizes; mutations move a size by a quarter of it.
class WalkingSource final : public CaseSource {
 public:
  std::vector<Case> seeds() const override { return {tied_case(1, 1), tied_case(2, 2), tied_case(3, 3)}; }
  Case draw(uint64_t k) const override { return tied_case(4 + static_cast<int64_t>(k % 6), 1); }
  bool fits(const Case& c) const override { return c.inputs.size() == 2; }
  Case mutate(const Case& c, uint64_t seed) const override {
    const int64_t rows = c.inputs[0].sizes[0], step = rows / 4 + 1;
    const uint64_t mixed = seed * 0x9e3779b97f4a7c15;
    return tied_case(std::max<int64_t>(0, rows + (mixed >> 63 ? step : -step)), 1);
  }
  Case cross(const Case& c, const Case&, uint64_t) const override { return c; }
};

class GuidedDrawsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_engine_program().empty()) GTEST_SKIP() << "this build has no libFuzzer";
    std::string name = fs::temp_directory_path() / "aotifuzz-guided-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  EngineOptions options(std::vector<std::string> flags = {}) const { return {"", folder_ + "/corpus", 1, flags}; }
  size_t units() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_ + "/corpus"), fs::directory_iterator()));
  }

  WalkingSource source_;
  std::string folder_;
};

Case next(GuidedDraws& draws) {
  return draws.next([] { return false; }).value();
}

std::vector<EngineCounter> reached(const Case& c) { return counters_of(features_of(c, {}, reported({passed()}), {})); }

TEST_F(GuidedDrawsTest, TheSourcesSeedsComeFirstAndAreSharedByJobs) {
  for (size_t job = 0; job < 2; ++job) {
    EngineProcess engine({"", folder_ + "/corpus" + std::to_string(job), 1, {}});
    GuidedDraws draws(engine, source_, job, 2, 0);
    std::vector<int64_t> rows;
    for (int k = 0; k < 2; ++k) {
      const Case c = next(draws);
      rows.push_back(c.inputs[0].sizes[0]);
      draws.ran(reached(c));
    }
    EXPECT_EQ(rows[0], static_cast<int64_t>(job) + 1);
    if (job == 0) EXPECT_EQ(rows[1], 3);
  }
}

TEST_F(GuidedDrawsTest, TheSameAnswersGiveTheSameCases) {
  std::vector<std::string> all[2];
  for (int round = 0; round < 2; ++round) {
    EngineProcess engine({"", folder_ + "/corpus" + std::to_string(round), 7, {}});
    GuidedDraws draws(engine, source_, 0, 1, 0);
    for (int k = 0; k < 300; ++k) {
      const Case c = next(draws);
      all[round].push_back(print_case(c));
      draws.ran(reached(c));
    }
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_GT(std::set<std::string>(all[0].begin(), all[0].end()).size(), 10u);
}

/// How many cases until one has at least `rows` rows; `most` when none has. A draw alone gives 9 at most.
int cases_until(GuidedDraws& draws, int64_t rows, int most, bool with_feedback) {
  for (int k = 0; k < most; ++k) {
    const Case c = next(draws);
    if (c.inputs[0].sizes[0] >= rows) return k;
    Verdict verdict = passed();
    verdict.measures = {
        {kNearness, std::to_string(static_cast<double>(c.inputs[0].sizes[0]) / static_cast<double>(rows))}};
    draws.ran(with_feedback ? counters_of(features_of(c, {}, reported({verdict}), {verdict})) : counters_of({{"ran"}}));
  }
  return most;
}

TEST_F(GuidedDrawsTest, WhatComesNearerIsBuiltUpon) {
  constexpr int kMost = 5'000;
  constexpr int64_t kRows = 300;
  EngineProcess guided(options());
  GuidedDraws draws(guided, source_, 0, 1, 3);
  EXPECT_LT(cases_until(draws, kRows, kMost, true), kMost);
  EngineProcess blind({"", folder_ + "/blind", 1, {}});
  GuidedDraws others(blind, source_, 0, 1, 3);
  EXPECT_EQ(cases_until(others, kRows, kMost, false), kMost) << "the walk gets there without guidance: no test of it";
}

TEST_F(GuidedDrawsTest, ACampaignGoesOnFromItsCorpusAndPassedOverCasesAreNotInIt) {
  {
    EngineProcess engine(options());
    GuidedDraws draws(engine, source_, 0, 1, 0);
    for (int k = 0; k < 200; ++k) {
      const Case c = next(draws);
      if (c.inputs[0].sizes[0] == 3) {
        draws.passed_over();
      } else {
        draws.ran(reached(c));
      }
    }
  }
  const size_t kept = units();
  ASSERT_GT(kept, 3u);
  for (const auto& file : fs::directory_iterator(folder_ + "/corpus")) {
    const auto c = parse_case(read_file(file.path()));
    ASSERT_TRUE(c) << file.path();
    EXPECT_NE(c->inputs[0].sizes[0], 3);
  }
  EngineProcess engine(options());
  GuidedDraws draws(engine, source_, 0, 1, 200);
  std::set<std::string> first;
  for (size_t k = 0; k < kept; ++k) {
    const Case c = next(draws);
    first.insert(print_case(c));
    draws.ran(reached(c));
  }
  EXPECT_EQ(draws.position(), 200u);
  EXPECT_EQ(first.size(), kept);
}

TEST_F(GuidedDrawsTest, UnitsThatAreNoCaseOfThisProgramAreCountedAndLeftAlone) {
  make_folder(folder_ + "/corpus");
  write_file_whole(folder_ + "/corpus/garbage", "no case\n");
  Case other = tied_case(2, 2);
  other.inputs.pop_back();
  write_file_whole(folder_ + "/corpus/other", print_case(other));
  EngineProcess engine(options());
  GuidedDraws draws(engine, source_, 0, 1, 0);
  const Case c = next(draws);
  EXPECT_EQ(c, source_.seeds()[0]);
  EXPECT_EQ(draws.refused(), 2u);
}

/// Who shares a corpus could name any file: only those of the cases that the user gave are used.
TEST_F(GuidedDrawsTest, UnitsOpenNoFiles) {
  const auto with_file = [](uint64_t hash) {
    Case c = tied_case(2, 2);
    auto file = std::make_shared<FileValues>();
    file->name = "/etc/passwd", file->hash = hash, file->dtype = Dtype::kF32, file->loaded = true;
    c.inputs[0].values.kind = ValueKind::kFile;
    c.inputs[0].values.numbers.clear();
    c.inputs[0].values.file = file;
    return c;
  };
  class GivenSource final : public CaseSource {
   public:
    explicit GivenSource(Case given) : given_(std::move(given)) {}
    std::vector<Case> given() const override { return {given_}; }
    std::vector<Case> seeds() const override { return {}; }
    Case draw(uint64_t) const override { return tied_case(1, 1); }

   private:
    Case given_;
  } source(with_file(7));
  make_folder(folder_ + "/corpus");
  write_file_whole(folder_ + "/corpus/known", print_case(with_file(7)));
  write_file_whole(folder_ + "/corpus/unknown", print_case(with_file(8)));
  EngineProcess engine(options());
  GuidedDraws draws(engine, source, 0, 1, 0);
  for (int k = 0; k < 5; ++k) {
    const Case c = next(draws);
    if (c.inputs[0].values.file) EXPECT_EQ(c.inputs[0].values.file, source.given()[0].inputs[0].values.file);
    draws.ran(reached(c));
  }
  EXPECT_EQ(draws.refused(), 1u);
}

TEST_F(GuidedDrawsTest, AStopEndsItAndFlagsThatLetNothingPassAreSaid) {
  EngineProcess engine(options({"-max_len=10"}));
  GuidedDraws draws(engine, source_, 0, 1, 0);
  EXPECT_EQ(draws.next([] { return true; }), std::nullopt);
  EXPECT_THROW(draws.next([] { return false; }), HarnessError);
}

TEST_F(GuidedDrawsTest, AnEngineThatEndsSaysWhy) {
  EngineProcess engine(options({"-runs=3"}));
  GuidedDraws draws(engine, source_, 0, 1, 0);
  EXPECT_THROW(
      for (int k = 0; k < 50; ++k) {
        const Case c = next(draws);
        draws.ran(reached(c));
      },
      HarnessError);
  EXPECT_THROW(EngineProcess({folder_ + "/none", folder_ + "/corpus", 1, {}}).next(), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
