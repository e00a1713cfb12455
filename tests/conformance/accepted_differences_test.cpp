// Differences between eager and compiled code that torch's maintainers accept: no oracle may call any of them a
// failure. Numbers in comments are pytorch/pytorch threads. (TF32 is missing: no CPU has it.)

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "oracles/catalog.h"
#include "tests/support/planted_faults.h"
#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;
using testing::TinyProgram;
using P = TinyProgram;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_silence(const Scenario& scenario) {
  for (const OracleRow& row : oracle_rows())
    for (const Verdict& verdict : scenario.judge(*row.make()).verdicts)
      if (verdict.status == VerdictStatus::kFail) {
        std::string measures;
        for (const auto& [name, value] : verdict.measures) measures += " " + name + "=" + value;
        ADD_FAILURE() << row.name << ": " << verdict.signature << measures;
      }
}

at::Tensor spread_values(int64_t count, double step, double period, double shift, at::ScalarType type = at::kFloat) {
  return at::arange(count, at::kDouble).mul(step).remainder(period).sub(shift).to(type);
}

// #183761, #136181, #179575
TEST(AcceptedDifference, SixteenBitChainKeptInFloat32) {
  for (at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    P program;
    const at::Tensor a = spread_values(64, 0.731, 7, 3.3, type);
    program.input("a", a);
    const std::string tripled = program.call1("aten.mul.Tensor", {{"self", P::value("a")}, {"other", P::number(3.0)}});
    const std::string third =
        program.call1("aten.div.Tensor", {{"self", P::value(tripled)}, {"other", P::number(3.0)}});
    const std::string same = program.call1("aten.eq.Tensor", {{"self", P::value(third)}, {"other", P::value("a")}});
    const std::string more = program.call1("aten.gt.Tensor", {{"self", P::value(third)}, {"other", P::value("a")}});
    const std::string count = program.call1("aten.sum.default", {{"self", P::value(more)}});
    for (const std::string& name : {third, same, more, count}) program.output(name);
    Scenario scenario(std::move(program), {a});
    const at::Tensor wide = a.to(at::kFloat) * 3 / 3;
    ASSERT_FALSE(at::equal(wide.to(type), scenario.reference.outputs[0])) << "the two variants must differ somewhere";
    scenario.subject.outputs = {wide.to(type), wide == a.to(at::kFloat), wide > a.to(at::kFloat),
                                (wide > a.to(at::kFloat)).sum()};
    scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
    expect_silence(scenario);
  }
}

// #150165
TEST(AcceptedDifference, PackageNearerToFloat64ThanEager) {
  P program;
  // A Hilbert matrix: condition number 1e13, so float32 eager has no correct digit.
  const at::Tensor line = at::arange(9, at::kDouble);
  const at::Tensor hilbert = (1 / (line.view({9, 1}) + line + 1)).to(at::kFloat);
  program.input("a", hilbert);
  program.output(program.call1("aten.linalg_inv.default", {{"A", P::value("a")}}));
  Scenario scenario(std::move(program), {hilbert});
  scenario.subject.outputs[0] = at::linalg_inv(hilbert.to(at::kDouble)).to(at::kFloat);
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

// #99879, #118266
TEST(AcceptedDifference, IndexAmongExactTies) {
  P program;
  const at::Tensor x = at::ones({4, 33});
  program.input("x", x);
  program.output(program.call1("aten.argmax.default", {{"self", P::value("x")}}));
  program.output(program.call("aten.max.dim", {{"self", P::value("x")}, {"dim", P::number(int64_t{1})}})[1]);
  program.output(program.call("aten.topk.default", {{"self", P::value("x")}, {"k", P::number(int64_t{3})}})[1]);
  program.output(program.call("aten.sort.default", {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}})[1]);
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].fill_(77);
  scenario.subject.outputs[1].fill_(20);
  scenario.subject.outputs[2].copy_(at::tensor({5, 9, 2}, at::kLong).expand({4, 3}));
  scenario.subject.outputs[3].copy_(at::tensor({3, 1, 0, 2}, at::kLong).view({4, 1}).expand({4, 33}));
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, IndexAmongTiesThatFeedsOtherOps) {
  P program;
  const at::Tensor x = at::ones({6});
  const at::Tensor table = spread_values(6, 0.9, 5, 1);
  program.input("x", x);
  program.input("table", table);
  const std::string position = program.call1("aten.argmax.default", {{"self", P::value("x")}});
  program.output(
      program.call1("aten.index_select.default",
                    {{"self", P::value("table")}, {"dim", P::number(int64_t{0})}, {"index", P::value(position)}}));
  Scenario scenario(std::move(program), {x, table});
  scenario.subject.outputs[0].copy_(table.slice(0, 4, 5));
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, NanCountsAsTheExtreme) {
  P program;
  at::Tensor x = spread_values(40, 0.7, 9, 4);
  x[3] = kNan;
  x[20] = kNan;
  program.input("x", x);
  program.output(program.call1("aten.argmax.default", {{"self", P::value("x")}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].fill_(20);
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, NearTiesWithinThePermittedError) {
  P program;
  at::Tensor x = at::full({3, 64}, 0.1f);
  x[1].copy_(at::full({64}, 0.1f).flip({0}));
  x[1][0] = 0.1f * (1 + 0x1p-23f);
  x[2].sub_(1);
  program.input("x", x);
  const std::string sums = program.call1("aten.sum.dim_IntList", {{"self", P::value("x")}, {"dim", P::numbers({1})}});
  program.output(program.call1("aten.argmax.default", {{"self", P::value(sums)}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].copy_(1 - scenario.reference.outputs[0]);
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

// #196030, #196039
TEST(AcceptedDifference, NanPayloadAndSignOfZero) {
  P program;
  at::Tensor x = at::zeros({4});
  x[1] = kNan;
  program.input("x", x);
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::number(2.0)}}));
  Scenario scenario(std::move(program), {x});
  float* values = scenario.subject.outputs[0].data_ptr<float>();
  values[0] = -0.0f;
  const uint32_t payload = 0xffc12345;
  std::memcpy(values + 1, &payload, sizeof(payload));
  expect_silence(scenario);
}

// #131910, #151510
TEST(AcceptedDifference, FloatToIntegerOutOfRange) {
  P program;
  at::Tensor x = spread_values(20, 61.3, 900, 450);
  x[0] = kNan;
  x[1] = std::numeric_limits<float>::infinity();
  program.input("x", x);
  const std::string bytes = program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kU8)}});
  program.output(bytes);
  program.output(program.call1("aten.add.Tensor", {{"self", P::value(bytes)}, {"other", P::number(int64_t{1})}}));
  Scenario scenario(std::move(program), {x});
  for (at::Tensor& output : scenario.subject.outputs) {
    const at::Tensor out_of_range = (x < 0) | (x >= 256) | x.isnan();
    output.copy_(at::where(out_of_range, 173, output));
  }
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, OnlyElementsOutOfRangeAreExempt) {
  P program;
  const at::Tensor x = at::tensor({-50.0, 3.0, 400.0}, at::kFloat);
  program.input("x", x);
  program.output(program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kU8)}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].fill_(9);
  EXPECT_EQ(scenario.verdict("close").status, VerdictStatus::kFail) << "element 1 is defined";
}

// #138908
TEST(AcceptedDifference, WinnerAmongDuplicateIndices) {
  P program;
  const at::Tensor self = at::zeros({5}), source = spread_values(6, 0.77, 9, 4);
  const at::Tensor index = at::tensor({0, 2, 2, 2, 4, 0}, at::kLong);
  program.input("self", self);
  program.input("index", index);
  program.input("source", source);
  program.output(program.call1("aten.scatter.src", {{"self", P::value("self")},
                                                    {"dim", P::number(int64_t{0})},
                                                    {"index", P::value("index")},
                                                    {"src", P::value("source")}}));
  program.output(
      program.call1("aten.index_put.default",
                    {{"self", P::value("self")}, {"indices", P::values({"index"})}, {"values", P::value("source")}}));
  Scenario scenario(std::move(program), {self, index, source});
  for (at::Tensor& output : scenario.subject.outputs) {
    output[0] = source[0];
    output[2] = source[2];
  }
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  scenario.again.outputs[0][2] = source[1];  // and which one wins may change from run to run
  expect_silence(scenario);
  scenario.subject.outputs[0][4] = 0;
  EXPECT_EQ(scenario.verdict("close").status, VerdictStatus::kFail) << "an index without duplicates is defined";
}

// #151524, #192635, #147255
TEST(AcceptedDifference, RandomStream) {
  P program;
  const at::Tensor x = spread_values(50, 0.7, 9, 4);
  program.input("x", x);
  const std::string noise = program.call1("aten.rand_like.default", {{"self", P::value("x")}});
  program.output(program.call1("aten.add.Tensor", {{"self", P::value("x")}, {"other", P::value(noise)}}));
  program.output(program.call1("aten.dropout.default",
                               {{"input", P::value("x")}, {"p", P::number(0.5)}, {"train", P::truth(true)}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].add_(0.25);
  scenario.subject.outputs[1].zero_();
  expect_silence(scenario);
  const Verdict verdict = scenario.verdict("close");
  EXPECT_EQ(verdict.status, VerdictStatus::kMistrusted);
  EXPECT_EQ(verdict.reason, "random op: aten.rand_like.default");
}

// #174386
TEST(AcceptedDifference, MemoryThatNobodyWrote) {
  P program;
  const at::Tensor x = spread_values(8, 0.7, 9, 4);
  program.input("x", x);
  const std::string fresh = program.call1("aten.empty_like.default", {{"self", P::value("x")}});
  program.output(program.call1("aten.cat.default", {{"tensors", P::values({"x", fresh})}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0].slice(0, 8).fill_(123);
  scenario.again.outputs[0].slice(0, 8).fill_(-5);
  expect_silence(scenario);
  scenario.subject.outputs[0][2] = 123;
  EXPECT_EQ(scenario.verdict("close").status, VerdictStatus::kFail) << "the part that was written is defined";
}

// #116433, #168381, #183771
TEST(AcceptedDifference, StridesThatPlaceNothing) {
  P program;
  const at::Tensor x = spread_values(6, 0.7, 9, 4).view({1, 6, 1});
  program.input("x", x);
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::number(2.0)}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0] = scenario.subject.outputs[0].as_strided({1, 6, 1}, {99, 1, 17});
  EXPECT_EQ(scenario.verdict("metadata").status, VerdictStatus::kPass);
  expect_silence(scenario);
}

TEST(AcceptedDifference, AnotherLayoutOfAResultIsDoubtNotFailure) {
  P program;
  const at::Tensor x = spread_values(12, 0.7, 9, 4).view({3, 4});
  program.input("x", x);
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::number(2.0)}}));
  Scenario scenario(std::move(program), {x});
  scenario.subject.outputs[0] = scenario.subject.outputs[0].t().contiguous().t();
  const Verdict verdict = scenario.verdict("metadata");
  EXPECT_EQ(verdict.status, VerdictStatus::kMistrusted);
  EXPECT_EQ(verdict.reason, "strides differ");
  expect_silence(scenario);
}

TEST(AcceptedDifference, OrderOfAddsToMemory) {
  P program;
  const int64_t count = 4000;
  const at::Tensor self = at::zeros({3}), source = spread_values(count, 0.37, 100, 1);
  const at::Tensor index = at::arange(count, at::kLong).remainder(3);
  program.input("self", self);
  program.input("index", index);
  program.input("source", source);
  program.output(program.call1("aten.index_add.default", {{"self", P::value("self")},
                                                          {"dim", P::number(int64_t{0})},
                                                          {"index", P::value("index")},
                                                          {"source", P::value("source")}}));
  Scenario scenario(std::move(program), {self, index, source});
  scenario.subject.outputs[0] = at::index_add(self, 0, index.flip({0}), source.flip({0}));
  ASSERT_FALSE(at::equal(scenario.subject.outputs[0], scenario.reference.outputs[0]));
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, LongSumInAnotherOrder) {
  P program;
  const int64_t count = 20000;
  const at::Tensor x = spread_values(count, 0.0371, 1, 0);
  program.input("x", x);
  program.output(program.call1("aten.sum.default", {{"self", P::value("x")}}));
  program.output(program.call1("aten.cumsum.default", {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}}));
  Scenario scenario(std::move(program), {x});
  // One float32 accumulator in 16 lanes, and one alone: what vectorised code does.
  const float* values = x.const_data_ptr<float>();
  float lanes[16] = {}, running = 0;
  for (int64_t i = 0; i < count; ++i) {
    lanes[i % 16] += values[i];
    running += values[i];
    scenario.subject.outputs[1].data_ptr<float>()[i] = running;
  }
  float total = 0;
  for (float lane : lanes) total += lane;
  scenario.subject.outputs[0].fill_(total);
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
}

TEST(AcceptedDifference, VarianceThatOverflowsOnTheWay) {
  P program;
  const at::Tensor x = at::tensor({1e20f, -1e20f, 3.0f, 1e20f});
  program.input("x", x);
  program.output(program.call1("aten.std.correction", {{"self", P::value("x")}}));
  for (float value : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Scenario scenario(program, {x});
    ASSERT_LT(scenario.reference.outputs[0].item<float>(), 1e21f);
    scenario.subject.outputs[0].fill_(value);
    scenario.again.outputs[0].fill_(value);
    expect_silence(scenario);
  }
  Scenario small(program, {x * 1e-5});
  small.subject.outputs[0].fill_(std::numeric_limits<float>::infinity());
  EXPECT_EQ(small.verdict("close").status, VerdictStatus::kFail) << "nothing overflows here";
}

// #178013: as values only; a signal ends the process and is the parent's to judge.
TEST(AcceptedDifference, ShiftsPastTheWidth) {
  P program;
  const at::Tensor x = at::tensor({1, -5, 7}, at::kLong), n = at::tensor({63, 64, -1}, at::kLong);
  program.input("x", x);
  program.input("n", n);
  program.output(program.call1("aten.__lshift__.Tensor", {{"self", P::value("x")}, {"other", P::value("n")}}));
  Scenario scenario(std::move(program), {x, n});
  scenario.subject.outputs[0][1] = 12345;
  scenario.subject.outputs[0][2] = -9;
  scenario.again = testing::copy_of(scenario.subject, scenario.again.request);
  expect_silence(scenario);
  scenario.subject.outputs[0][0] = 1;
  EXPECT_EQ(scenario.verdict("close").status, VerdictStatus::kFail);
}

TEST(AcceptedDifference, OutOfMemory) {
  for (bool package : {true, false}) {
    Scenario scenario = make_scenario();
    RunRecord& record = package ? scenario.subject : scenario.reference;
    record.outcome.kind = OutcomeKind::kOutOfMemory;
    record.outputs.clear();
    expect_silence(scenario);
  }
}

TEST(AcceptedDifference, TextOfAnErrorThatBothSidesRaise) {
  Scenario scenario = make_scenario();
  for (RunRecord* record : {&scenario.reference, &scenario.subject, &scenario.again}) {
    record->outcome = {OutcomeKind::kRejected, Stage::kIdle,
                       record == &scenario.subject ? "index out of range" : "failed"};
    record->outputs.clear();
  }
  EXPECT_EQ(scenario.verdict("rejection").status, VerdictStatus::kPass);
  expect_silence(scenario);
}

TEST(AcceptedDifference, GuardThatRefusesWhatWasNotDeclared) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  scenario.subject.outcome = {OutcomeKind::kRejected, Stage::kSubject, "dim value is too large"};
  scenario.subject.outputs.clear();
  scenario.subject.inputs_after = scenario.inputs;  // refused before anything ran
  EXPECT_EQ(scenario.verdict("rejection").status, VerdictStatus::kPass);
  expect_silence(scenario);
}

}  // namespace
}  // namespace aotifuzz
