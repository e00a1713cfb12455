#include "worker/case_runner.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "oracles/program_facts_builder.h"
#include "store/case_text.h"
#include "tests/worker/graph_builder.h"

namespace aotifuzz {
namespace {

using test::GraphBuilder;
using test::number;
using test::program_of;
using test::tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Wants what it is told to want; asks for further runs a given number of times.
class FakeOracle final : public Oracle {
 public:
  FakeOracle(std::vector<RunRequest> wants, int asks) : wants_(std::move(wants)), asks_(asks) {}
  std::string_view name() const override { return "fake"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override {
    before = context.inputs_before[0].clone();
    return wants_;
  }
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override {
    unchanged = context.inputs_before[0].equal(before);
    count = runs.all().size();
    Judgement judgement;
    if (asked < asks_) judgement.more_runs = {{RunKind::kReferenceSampled, static_cast<uint64_t>(++asked)}};
    Verdict verdict;
    verdict.oracle = "fake";
    judgement.verdicts = {verdict};
    return judgement;
  }
  mutable at::Tensor before;
  mutable bool unchanged = false;
  mutable size_t count = 0;
  mutable int asked = 0;

 private:
  std::vector<RunRequest> wants_;
  int asks_;
};

/// x -> x.mul_(2).view(3): raises for any other size.
class CaseRunnerTest : public ::testing::Test {
 protected:
  CaseRunnerTest() {
    GraphBuilder g;
    g.input("x")
        .op("mul_.Tensor", {{"self", tensor("x")}, {"other", number(2)}}, "y")
        .op("view.default", {{"self", tensor("y")}, {"size", test::list({number(3)})}}, "z")
        .output("z");
    program_ = program_of(g.graph);
    InputSpec spec;
    spec.name = "x";
    spec.sizes = {Expr::symbol("s0")};
    spec.strides = {Expr::integer(1)};
    contract_.inputs = {spec};
    facts_ = build_program_facts(program_);
    reference_ = std::make_unique<ReferenceProgram>(program_, "", contract_, facts_);
  }

  CaseReport run(FakeOracle* oracle, const std::string& text) {
    std::vector<std::unique_ptr<Oracle>> oracles;
    oracles.emplace_back(oracle);
    CaseRunner runner({.contract = &contract_,
                       .facts = &facts_,
                       .reference = reference_.get(),
                       .oracles = oracles,
                       .recorder = &recorder_});
    CaseReport report = runner.run(7, text);
    count_ = oracle->count;
    unchanged_ = oracle->unchanged;
    return report;
  }
  static std::vector<std::string> names(const CaseReport& report) {
    std::vector<std::string> out;
    for (const RunSummary& summary : report.runs) out.push_back(summary.run);
    return out;
  }

  Program program_;
  Contract contract_;
  ProgramFacts facts_;
  std::unique_ptr<ReferenceProgram> reference_;
  FlightRecorder recorder_;
  size_t count_ = 0;
  bool unchanged_ = false;
  const std::string good_ = "aotifuzz-case 1\ninput x f32[3] ramp(0,1)\n";
};

TEST_F(CaseRunnerTest, RunsAreMadeOnceReferenceFirst) {
  const RunRequest reference{RunKind::kReference, 0}, wide{RunKind::kReferenceF64, 0};
  const CaseReport report = run(new FakeOracle({wide, reference, wide, reference}, 0), good_);
  EXPECT_EQ(report.id, 7u);
  EXPECT_THAT(names(report), ElementsAre("reference", "reference-f64"));
  EXPECT_TRUE(report.reference_accepts);
  EXPECT_EQ(report.verdicts.size(), 1u);
  EXPECT_EQ(recorder_.case_id, 7u);
  EXPECT_EQ(recorder_.reference_done, 1);
  EXPECT_EQ(recorder_.reference_accepts, 1);
  EXPECT_EQ(recorder_.stage, static_cast<int>(Stage::kIdle));
}

TEST_F(CaseRunnerTest, EveryRunStartsFromFreshInputsAndThePristineOnesStay) {
  run(new FakeOracle({{RunKind::kReference, 0}, {RunKind::kReferenceF64, 0}}, 0), good_);
  EXPECT_TRUE(unchanged_) << "the program writes its input";
}

TEST_F(CaseRunnerTest, ARejectionByTheReferenceIsARunLikeAnyOther) {
  const CaseReport report =
      run(new FakeOracle({{RunKind::kReference, 0}}, 0), "aotifuzz-case 1\ninput x f32[4] const(1)\n");
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(report.runs[0].outcome.kind, OutcomeKind::kRejected);
  EXPECT_FALSE(report.reference_accepts);
  EXPECT_EQ(recorder_.reference_done, 1);
  EXPECT_EQ(recorder_.reference_accepts, 0);
}

TEST_F(CaseRunnerTest, FurtherRunsAreMadeWhenAskedForButNotForEver) {
  EXPECT_THAT(names(run(new FakeOracle({{RunKind::kReference, 0}}, 2), good_)),
              ElementsAre("reference", "reference-sampled", "reference-sampled"));
  EXPECT_EQ(count_, 3u);
  const CaseReport endless = run(new FakeOracle({{RunKind::kReference, 0}}, 1000), good_);
  ASSERT_EQ(endless.verdicts.size(), 1u);
  EXPECT_EQ(endless.verdicts[0].status, VerdictStatus::kSkip);
  EXPECT_LT(endless.runs.size(), 20u);
}

TEST_F(CaseRunnerTest, RunsOfAPartThatIsOffAreLeftOut) {
  EXPECT_THAT(names(run(new FakeOracle({{RunKind::kSubject, 0}, {RunKind::kReference, 0}}, 0), good_)),
              ElementsAre("reference"));
}

TEST_F(CaseRunnerTest, WhatDoesNotParseOrFitIsReportedAsParse) {
  for (const char* text : {"nonsense", "aotifuzz-case 1\n"}) {
    const CaseReport report = run(new FakeOracle({{RunKind::kReference, 0}}, 0), text);
    ASSERT_THAT(names(report), ElementsAre("parse"));
    EXPECT_EQ(report.runs[0].outcome.kind, OutcomeKind::kRejected);
    EXPECT_EQ(report.runs[0].outcome.stage, Stage::kParse);
    EXPECT_THAT(report.verdicts, IsEmpty());
  }
}

TEST_F(CaseRunnerTest, ASurplusInputIsGivenAndTheReferenceRefusesIt) {
  const CaseReport report =
      run(new FakeOracle({{RunKind::kReference, 0}}, 0), good_ + "input e f32[1] const(0) surplus\n");
  ASSERT_THAT(names(report), ElementsAre("reference"));
  EXPECT_EQ(report.runs[0].outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(report.runs[0].outcome.message, HasSubstr("the program takes 1 inputs, 2 given"));
  EXPECT_FALSE(report.reference_accepts);
}

TEST_F(CaseRunnerTest, AnInputOnTheCpuIsNothingSpecialForAProgramOfTheCpu) {
  const CaseReport report =
      run(new FakeOracle({{RunKind::kReference, 0}}, 0), "aotifuzz-case 1\ninput x f32[3] const(0) device=cpu\n");
  EXPECT_TRUE(report.reference_accepts) << "the CPU is where the program wants it";
}

TEST_F(CaseRunnerTest, AnInputOnAGpuIsNoCaseForAWorkerWithoutOne) {
  const CaseReport report =
      run(new FakeOracle({{RunKind::kReference, 0}}, 0), "aotifuzz-case 1\ninput x f32[3] const(0) device=cuda\n");
  ASSERT_THAT(names(report), ElementsAre("materialise"));
  EXPECT_THAT(report.runs[0].outcome.message, HasSubstr("input x lies on a GPU"));
  ASSERT_EQ(report.verdicts.size(), 1u);
  EXPECT_EQ(report.verdicts[0].status, VerdictStatus::kSkip);
}

TEST_F(CaseRunnerTest, InputsThatNoMemoryHoldsAreOutOfMemory) {
  CaseInput huge;
  huge.name = "x";
  huge.sizes = {kCaseBytesMax / 4};
  Case c;
  c.inputs = {huge};
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit small = before;
  small.rlim_cur = rlim_t{8} << 30;
  setrlimit(RLIMIT_AS, &small);
  const CaseReport report = run(new FakeOracle({{RunKind::kReference, 0}}, 0), print_case(c));
  setrlimit(RLIMIT_AS, &before);
  ASSERT_THAT(names(report), ElementsAre("materialise"));
  EXPECT_EQ(report.runs[0].outcome.kind, OutcomeKind::kOutOfMemory);
}

}  // namespace
}  // namespace aotifuzz
