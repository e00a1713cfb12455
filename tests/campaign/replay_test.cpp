#include "campaign/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::HasSubstr;
using Status = ReplayResult::Status;

class Replay : public ::testing::Test {
 protected:
  Replay() {
    entry_.name = "wrong-result-1";
    entry_.input = tied_case(2, 3);
    Expectation expectation;
    expectation.signature = "planted";
    expectation.cls = VerdictClass::kWrongResult;
    expectation.fault = true;
    entry_.expectation = expectation;
  }
  ReplayResult run(std::function<CaseResult(const Case&)> answer, int times = 5) {
    FakeExecutor executor(std::move(answer));
    const ReplayResult result = replay({contract_, has_reference_}, executor, entry_, times);
    renewals_ = executor.renewals;
    ran_ = executor.ran;
    text_ = print_replay(entry_, result);
    return result;
  }
  Contract contract_ = tied_contract();
  CorpusEntry entry_;
  bool has_reference_ = true;
  int renewals_ = 0;
  std::vector<Case> ran_;
  std::string text_;
};

TEST_F(Replay, StillFailsEachTimeInAProcessOfItsOwn) {
  const ReplayResult result = run([](const Case&) { return reported({failed("planted")}); });
  EXPECT_EQ(result.status, Status::kStillFails);
  EXPECT_TRUE(result.fault);
  EXPECT_EQ(renewals_, 5);
  EXPECT_THAT(text_, HasSubstr("wrong-result-1: still fails 5 of 5: fault wrong-result: planted"));
  EXPECT_THAT(text_, HasSubstr("expected: 3"));
}

TEST_F(Replay, FixedOnlyWhenItWasJudged) {
  EXPECT_EQ(run([](const Case&) { return reported({passed()}); }).status, Status::kFixed);
  Verdict skip;
  skip.oracle = "close";
  skip.status = VerdictStatus::kSkip;
  skip.reason = "no reference";
  EXPECT_EQ(run([&](const Case&) { return reported({skip}); }).status, Status::kNotJudged);
  EXPECT_THAT(text_, HasSubstr("no reference"));
}

TEST_F(Replay, WithoutAReferenceWhatOnlyItCanTellIsNotFixedButNotJudged) {
  has_reference_ = false;
  for (VerdictClass cls : {VerdictClass::kWrongResult, VerdictClass::kWrongMetadata, VerdictClass::kMissesError,
                           VerdictClass::kAcceptsIllegal, VerdictClass::kRejectsLegal, VerdictClass::kInputChanged}) {
    entry_.expectation->cls = cls;
    EXPECT_EQ(run([](const Case&) { return reported({passed()}); }).status, Status::kNotJudged)
        << verdict_class_name(cls);
  }
  entry_.expectation->cls = VerdictClass::kCrash;
  EXPECT_EQ(run([](const Case&) { return reported({passed()}); }).status, Status::kFixed);
  EXPECT_THAT(text_, HasSubstr("no reference: looked for crashes"));
}

TEST_F(Replay, WithoutAReferenceACrashIsStillTheSameCrash) {
  const ReplayResult with = run([](const Case&) { return died(SIGSEGV); });
  entry_.expectation->cls = VerdictClass::kCrash;
  entry_.expectation->signature = with.fails.at(0).substr(with.fails[0].find(": ") + 2);
  has_reference_ = false;
  EXPECT_EQ(run([](const Case&) { return died(SIGSEGV); }).status, Status::kStillFails);
}

TEST_F(Replay, OutsideTheVersionsThatItIsExpectedWithOnlyFixedIsNoSurprise) {
  entry_.expectation->torch = *TorchRange::parse("<2.15");
  const auto with = [&](const std::string& torch, const Verdict& verdict) {
    FakeExecutor executor([&](const Case&) { return reported({verdict}); });
    const ReplayResult result = replay({contract_, true}, executor, entry_, 2, torch);
    text_ = print_replay(entry_, result);
    return is_surprise(result);
  };
  EXPECT_FALSE(with("2.11.0+cu130", failed("planted")));
  EXPECT_TRUE(with("2.11.0+cu130", passed()));
  EXPECT_FALSE(with("2.15.0", passed()));
  EXPECT_THAT(text_, HasSubstr("it fails with torch <2.15"));
  EXPECT_TRUE(with("2.15.0", failed("planted")));
  EXPECT_THAT(text_, HasSubstr("expected with torch <2.15 only"));
  Verdict other = failed("another");
  EXPECT_TRUE(with("2.15.0", other));
  other.fault = false;
  EXPECT_FALSE(with("2.15.0", other));
  EXPECT_FALSE(with("", failed("planted"))) << "an unknown version is no reason to doubt";
}

TEST_F(Replay, ChangedSaysFromWhatToWhat) {
  const ReplayResult result = run([](const Case&) { return died(SIGSEGV); });
  EXPECT_EQ(result.status, Status::kChanged);
  EXPECT_TRUE(result.fault);
  EXPECT_THAT(text_, HasSubstr("changed: from fault wrong-result: planted to fault crash: crash SIGSEGV in subject"));
}

TEST_F(Replay, AFaultThatBecameAGapHasChanged) {
  const ReplayResult result = run([](const Case&) { return reported({failed("planted", false)}); });
  EXPECT_EQ(result.status, Status::kChanged);
  EXPECT_FALSE(result.fault);
}

TEST_F(Replay, FlakySaysHowOften) {
  int calls = 0;
  const ReplayResult result = run([&](const Case&) { return reported({calls++ % 2 ? passed() : failed("planted")}); });
  EXPECT_EQ(result.status, Status::kFlaky);
  EXPECT_EQ(result.reproduced, 3);
  EXPECT_THAT(text_, HasSubstr("flaky 3 of 5"));
}

TEST_F(Replay, ABareCasePrintsItsVerdicts) {
  entry_.expectation.reset();
  EXPECT_EQ(run([](const Case&) { return reported({failed("odd")}); }).status, Status::kFails);
  EXPECT_THAT(text_, HasSubstr("close: fail: fault wrong-result: odd"));
  EXPECT_EQ(run([](const Case&) { return reported({passed()}); }).status, Status::kPasses);
  EXPECT_THAT(text_, HasSubstr("close: pass"));
}

TEST_F(Replay, EarlierCasesRunFirstInTheSameProcess) {
  entry_.before = {tied_case(9, 9)};
  bool damaged = false;
  const ReplayResult result = run(
      [&](const Case& c) {
        if (c.inputs[0].sizes[0] == 9) damaged = true;
        return reported({damaged && c.inputs[0].sizes[0] == 2 ? failed("planted") : passed()});
      },
      2);
  EXPECT_EQ(result.status, Status::kStillFails);
  ASSERT_EQ(ran_.size(), 4u);
  EXPECT_EQ(ran_[0], entry_.before[0]);
}

}  // namespace
}  // namespace aotifuzz
