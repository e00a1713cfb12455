#include "oracles/legal_sampler.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using P = testing::TinyProgram;

std::vector<at::Tensor> samples(const P& program, const std::vector<at::Tensor>& inputs, uint64_t count) {
  std::vector<at::Tensor> out;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const RunRecord record = program.run({RunKind::kReferenceSampled, seed}, inputs);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::kFinished) << record.outcome.message;
    out.push_back(record.outputs.at(0));
  }
  return out;
}

double spread(const P& program, const std::vector<at::Tensor>& inputs) {
  const at::Tensor centre = program.run({RunKind::kReferenceF64, 0}, inputs).outputs.at(0);
  double widest = 0;
  for (const at::Tensor& sample : samples(program, inputs, 12))
    widest = std::max(widest, (sample - centre).abs().max().item<double>());
  return widest;
}

TEST(LegalSampler, FirstSeedRoundsAsEagerDoes) {
  P program;
  const at::Tensor x = at::arange(1, 40, at::kFloat).div(7);
  program.input("x", x);
  const std::string y = program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::value("x")}});
  program.output(program.call1("aten.add.Tensor", {{"self", P::value(y)}, {"other", P::value("x")}}));
  const at::Tensor sample = program.run({RunKind::kReferenceSampled, kRoundAsWritten}, {x}).outputs[0];
  EXPECT_TRUE(at::equal(sample, (x * x + x).to(at::kDouble)));
}

TEST(LegalSampler, SecondSeedKeepsSixteenBitValuesInFloat32) {
  P program;
  const at::Tensor x = at::arange(1, 40, at::kFloat).div(7).to(at::kBFloat16);
  program.input("x", x);
  const std::string y = program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::value("x")}});
  program.output(program.call1("aten.div.Tensor", {{"self", P::value(y)}, {"other", P::number(3.0)}}));
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor sample = program.run({RunKind::kReferenceSampled, kRoundKeepFloat32}, {x}).outputs[0];
  EXPECT_TRUE(at::equal(sample, (wide * wide / 3).to(at::kDouble)));
}

TEST(LegalSampler, ExactProgramsDoNotMove) {
  P program;
  const at::Tensor x = at::arange(-6, 6, at::kFloat).view({3, 4});
  program.input("x", x);
  const std::string sum = program.call1("aten.sum.dim_IntList", {{"self", P::value("x")}, {"dim", P::numbers({1})}});
  program.output(program.call1("aten.matmul.default", {{"self", P::value(sum)}, {"other", P::value("x")}}));
  EXPECT_EQ(spread(program, {x}), 0);
}

TEST(LegalSampler, CancellationWidensTheSpread) {
  P program;
  const at::Tensor x = at::full({64}, 1000.1f), y = at::full({64}, 1000.0f);
  program.input("x", x);
  program.input("y", y);
  const std::string a = program.call1("aten.div.Tensor", {{"self", P::value("x")}, {"other", P::number(3.0)}});
  const std::string b = program.call1("aten.div.Tensor", {{"self", P::value("y")}, {"other", P::number(3.0)}});
  program.output(program.call1("aten.sub.Tensor", {{"self", P::value(a)}, {"other", P::value(b)}}));
  const double moved = spread(program, {x, y});
  EXPECT_GT(moved, 1e-5) << "an ulp of 333 is 3e-5, though the result is 0.03";
  EXPECT_LT(moved, 1e-3);
}

TEST(LegalSampler, RoundingDoesNotDrawUndefinedResults) {
  P program;
  const at::Tensor x = at::tensor({-50.0f, 400.0f});
  program.input("x", x);
  program.output(program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kU8)}}));
  const at::Tensor centre = program.run({RunKind::kReferenceF64, 0}, {x}).outputs[0];
  for (const at::Tensor& sample : samples(program, {x}, 8)) EXPECT_TRUE(at::equal(sample, centre));
}

TEST(LegalSampler, TheSameSeedGivesTheSameRun) {
  P program;
  const at::Tensor x = at::arange(30, at::kFloat).mul(0.1f);
  program.input("x", x);
  program.output(program.call1("aten.softmax.int", {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}}));
  const RunRequest request{RunKind::kReferenceSampled, 5};
  EXPECT_TRUE(at::equal(program.run(request, {x}).outputs[0], program.run(request, {x}).outputs[0]));
  EXPECT_GT(spread(program, {x}), 0);
}

TEST(LegalSampler, InPlaceOpsAreNoisyInPlace) {
  P program;
  const at::Tensor x = at::arange(30, at::kFloat).mul(0.1f);
  program.input("x", x);
  program.call("aten.div_.Tensor", {{"self", P::value("x")}, {"other", P::number(3.0)}});
  program.output(program.call1("aten.neg.default", {{"self", P::value("x")}}));
  EXPECT_GT(spread(program, {x}), 0);
}

}  // namespace
}  // namespace aotifuzz
