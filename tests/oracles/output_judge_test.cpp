#include "oracles/output_judge.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace aotifuzz {
namespace {

using Kind = TensorAnswer::Kind;

/// One output under hand-made referee runs.
class Fixture {
 public:
  Fixture(at::Tensor expected, at::Tensor actual, at::Tensor centre) : expected_(expected), actual_(actual) {
    facts_.op = "aten.test.default";
    facts_.rounding_budget = 1;
    add(RunKind::kReferenceF64, centre);
  }
  Fixture& rounded(const at::Tensor& sample) { return add(RunKind::kReferenceSampled, sample); }
  Fixture& undefined(const at::Tensor& sample) {
    add(RunKind::kReferenceSampled, sample);
    is_undefined_.back() = true;
    return *this;
  }
  OutputFacts& facts() { return facts_; }

  TensorAnswer judge(int stage = kRefereeStages) const {
    RefereeRuns referee;
    referee.stage = stage;
    if (stage > 0) referee.centre = &records_[0];
    for (size_t i = 1; i < records_.size() && stage > 0; ++i)
      (is_undefined_[i] ? referee.undefined : referee.rounded).push_back(&records_[i]);
    TensorQuestion question;
    question.expected = expected_;
    question.actual = actual_;
    question.facts = &facts_;
    question.pick = [](const RunRecord& run) { return run.outputs.at(0); };
    return judge_tensor(question, referee);
  }

 private:
  Fixture& add(RunKind kind, const at::Tensor& output) {
    RunRecord record;
    record.request.kind = kind;
    record.outputs = {output};
    records_.push_back(record);
    is_undefined_.push_back(false);
    return *this;
  }

  at::Tensor expected_, actual_;
  OutputFacts facts_;
  std::vector<RunRecord> records_;
  std::vector<bool> is_undefined_;
};

at::Tensor one(double value, at::ScalarType type = at::kDouble) { return at::full({1}, value, type); }
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of many elements the first samples leave some all but unmoved by chance: what is far from those may yet be legal.
TEST(JudgeTensor, AnElementThatFewSamplesMovedGetsMoreOfThem) {
  const at::Tensor right = at::tensor({1.0f, 1.0f});
  Fixture near(right, at::tensor({1.0001f, 1.0f}), right.to(at::kDouble));
  near.rounded(at::tensor({1.0 + 1e-7, 1.001}, at::kDouble));
  EXPECT_EQ(near.judge(2).kind, Kind::kNeedsRuns);
  EXPECT_EQ(near.judge(3).kind, Kind::kDiffers);
  Fixture far(right, at::tensor({9.0f, 1.0f}), right.to(at::kDouble));
  far.rounded(at::tensor({1.0 + 1e-7, 1.001}, at::kDouble));
  EXPECT_EQ(far.judge(2).kind, Kind::kDiffers);
}

TEST(OutputJudge, AgreementNeedsNoReferee) {
  EXPECT_EQ(Fixture(one(1, at::kFloat), one(1, at::kFloat), one(1)).judge(0).kind, Kind::kAgrees);
}

TEST(OutputJudge, DisagreementAsksForTheRefereeFirst) {
  EXPECT_EQ(Fixture(one(1, at::kFloat), one(2, at::kFloat), one(1)).judge(0).kind, Kind::kNeedsRuns);
}

TEST(OutputJudge, FourTimesTheSpreadIsPermitted) {
  Fixture within(one(1, at::kFloat), one(1.039, at::kFloat), one(1));
  EXPECT_EQ(within.rounded(one(1.01)).judge().kind, Kind::kAgrees);
  Fixture beyond(one(1, at::kFloat), one(1.041, at::kFloat), one(1));
  const TensorAnswer answer = beyond.rounded(one(0.99)).judge();
  EXPECT_EQ(answer.kind, Kind::kDiffers);
  EXPECT_EQ(answer.index, "[0]");
  EXPECT_EQ(answer.differing, 1);
}

TEST(OutputJudge, TwoUlpsArePermittedWithoutAnySpread) {
  const float up2 = 1 + 2 * 0x1p-23f, up3 = 1 + 3 * 0x1p-23f;
  Fixture exact(one(1, at::kFloat), one(up2, at::kFloat), one(1));
  exact.facts().rounding_budget = 0.01;
  EXPECT_EQ(exact.judge().kind, Kind::kAgrees);
  Fixture past(one(1, at::kFloat), one(up3, at::kFloat), one(1));
  past.facts().rounding_budget = 0.01;
  EXPECT_EQ(past.judge().kind, Kind::kDiffers);
}

TEST(OutputJudge, NoFurtherFromTheCentreThanEagerIsFine) {
  EXPECT_EQ(Fixture(one(1.001, at::kFloat), one(0.9992, at::kFloat), one(1)).rounded(one(1.0005)).judge().kind,
            Kind::kAgrees);
}

TEST(OutputJudge, ARefereeThatContradictsEagerIsNotBelieved) {
  const TensorAnswer answer = Fixture(one(1, at::kFloat), one(3, at::kFloat), one(2.1)).judge();
  // The package is nearer to the centre than eager here; move it away so that neither side is explained.
  EXPECT_EQ(answer.kind, Kind::kAgrees);
  const TensorAnswer far = Fixture(one(1, at::kFloat), one(9, at::kFloat), one(2.1)).judge();
  EXPECT_EQ(far.kind, Kind::kUnjudged);
  EXPECT_NE(far.reason.find("aten.test.default"), std::string::npos);
}

TEST(OutputJudge, NanIsFineWhereSomeLegalRunHasIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Fixture(one(1, at::kFloat), one(nan, at::kFloat), one(1)).rounded(one(1)).judge().kind, Kind::kDiffers);
  EXPECT_EQ(Fixture(one(1, at::kFloat), one(nan, at::kFloat), one(1)).rounded(one(nan)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(one(nan, at::kFloat), one(1, at::kFloat), one(nan)).rounded(one(nan)).judge().kind, Kind::kDiffers);
  EXPECT_EQ(Fixture(one(nan, at::kFloat), one(1, at::kFloat), one(1)).rounded(one(nan)).judge().kind, Kind::kAgrees);
}

TEST(OutputJudge, OverflowIsFineWhereSomeLegalRunOverflows) {
  const auto half = [](double value) { return one(value, at::kHalf); };
  EXPECT_EQ(Fixture(half(kInfinity), half(65504), one(65530)).rounded(one(kInfinity)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(half(65504), half(kInfinity), one(65510)).rounded(one(kInfinity)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(half(1000), half(kInfinity), one(1000)).rounded(one(1000.2)).judge().kind, Kind::kDiffers);
}

TEST(OutputJudge, OverflowInsideAFunctionIsFineNearTheEndOfTheRange) {
  const auto single = [](double value) { return one(value, at::kFloat); };
  EXPECT_EQ(Fixture(single(3e38), single(kInfinity), one(3e38)).rounded(one(3e38)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(single(3e38), single(-kInfinity), one(3e38)).rounded(one(3e38)).judge().kind, Kind::kDiffers);
  EXPECT_EQ(Fixture(single(1e38), single(kInfinity), one(1e38)).rounded(one(1e38)).judge().kind, Kind::kDiffers);
}

TEST(OutputJudge, AResultThatTheDtypeCannotHoldMayBeInfinityOrNan) {
  const auto single = [](double value) { return one(value, at::kFloat); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Fixture(single(kInfinity), single(nan), one(7e39)).rounded(one(kInfinity)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(single(kInfinity), single(5), one(7e39)).rounded(one(kInfinity)).judge().kind, Kind::kDiffers);
}

TEST(OutputJudge, SubnormalResultsOfFunctionsAreNotPromised) {
  const auto single = [](double value) { return one(value, at::kFloat); };
  EXPECT_EQ(Fixture(single(0x1p-133), single(0), one(0x1p-133)).judge().kind, Kind::kAgrees);
  Fixture copied(single(0x1p-133), single(0), one(0x1p-133));
  copied.facts().rounding_budget = 0;
  EXPECT_EQ(copied.judge().kind, Kind::kDiffers) << "a copy keeps them";
}

TEST(OutputJudge, DiscreteValuesMustBeSeenOrLieBetween) {
  const auto whole = [](int64_t value) { return at::full({1}, value, at::kLong); };
  EXPECT_EQ(Fixture(whole(3), whole(4), whole(3)).rounded(whole(3)).judge().kind, Kind::kDiffers);
  EXPECT_EQ(Fixture(whole(3), whole(4), whole(3)).rounded(whole(4)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(whole(3), whole(4), whole(3)).rounded(whole(5)).judge().kind, Kind::kAgrees);
  EXPECT_EQ(Fixture(whole(3), whole(40), whole(3)).rounded(whole(5)).judge().kind, Kind::kDiffers);
  EXPECT_EQ(Fixture(whole(3), whole(4), whole(4)).rounded(whole(4)).judge().kind, Kind::kAgrees);
}

TEST(OutputJudge, UndefinedElementsAreExemptAndCounted) {
  const at::Tensor expected = at::tensor({1, 2}, at::kLong), actual = at::tensor({9, 2}, at::kLong);
  Fixture fixture(expected, actual, expected);
  fixture.rounded(expected).undefined(at::tensor({5, 2}, at::kLong));
  EXPECT_EQ(fixture.judge().kind, Kind::kAgrees);
  EXPECT_EQ(fixture.judge().exempt, 1);
  Fixture other(expected, at::tensor({1, 7}, at::kLong), expected);
  EXPECT_EQ(other.rounded(expected).undefined(at::tensor({5, 2}, at::kLong)).judge().kind, Kind::kDiffers);
}

TEST(OutputJudge, SpecialValuesAreMarkedOnlyWhenEveryDifferenceHasOne) {
  const at::Tensor expected = at::tensor({1.0f, 2.0f}),
                   nan = at::tensor({std::numeric_limits<float>::quiet_NaN(), 2.0f});
  EXPECT_TRUE(Fixture(expected, nan, expected.to(at::kDouble)).judge().special);
  const at::Tensor both = at::tensor({std::numeric_limits<float>::quiet_NaN(), 5.0f});
  EXPECT_FALSE(Fixture(expected, both, expected.to(at::kDouble)).judge().special);
}

TEST(OutputJudge, GrossErrorsDoNotAskForEverySample) {
  Fixture gross(one(1, at::kFloat), one(5, at::kFloat), one(1));
  EXPECT_EQ(gross.rounded(one(1 + 1e-7)).judge(2).kind, Kind::kDiffers);
  Fixture slight(one(1, at::kFloat), one(1 + 2e-6, at::kFloat), one(1));
  EXPECT_EQ(slight.rounded(one(1 + 1e-7)).judge(2).kind, Kind::kNeedsRuns);
}

TEST(OutputJudge, WithoutARefereeDisagreementIsUnjudgedNeverPassed) {
  Fixture fixture(one(1, at::kFloat), one(5, at::kFloat), at::zeros({3}, at::kDouble));
  EXPECT_EQ(fixture.judge().kind, Kind::kUnjudged);
}

}  // namespace
}  // namespace aotifuzz
