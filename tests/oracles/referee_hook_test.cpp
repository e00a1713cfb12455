#include "oracles/referee_hook.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using P = testing::TinyProgram;

at::Tensor run_f64(const P& program, const std::vector<at::Tensor>& inputs, size_t output = 0) {
  const RunRecord record = program.run({RunKind::kReferenceF64, 0}, inputs);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::kFinished) << record.outcome.message;
  return record.outputs.at(output);
}

TEST(RefereeHook, EverythingIsFloat64) {
  P program;
  const at::Tensor x = at::full({3}, 0.1f);
  program.input("x", x);
  const std::string half = program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kF16)}});
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value(half)}, {"other", P::value(half)}}));
  const at::Tensor result = run_f64(program, {x});
  EXPECT_EQ(result.scalar_type(), at::kDouble);
  EXPECT_EQ(result[0].item<double>(), double(0.1f) * double(0.1f));
}

TEST(RefereeHook, FactoriesMakeFloat64) {
  P program;
  const at::Tensor x = at::ones({10});
  program.input("x", x);
  const std::string line = program.call1(
      "aten.arange.start_step", {{"start", P::number(0.0)}, {"end", P::number(1.0)}, {"step", P::number(0.1)}});
  program.output(program.call1("aten.add.Tensor", {{"self", P::value("x")}, {"other", P::value(line)}}));
  EXPECT_NEAR(run_f64(program, {x})[3].item<double>(), 1.3, 1e-8);
}

TEST(RefereeHook, IntegerQuotientsAreComputedInFloat64) {
  P program;
  const at::Tensor n = at::arange(1, 4, at::kLong);
  program.input("n", n);
  program.output(program.call1("aten.div.Tensor", {{"self", P::value("n")}, {"other", P::number(int64_t{3})}}));
  EXPECT_EQ(run_f64(program, {n})[0].item<double>(), 1.0 / 3);
}

TEST(RefereeHook, ScalarsAreThoseOfFloat32) {
  P program;
  const at::Tensor x = at::ones({2});
  program.input("x", x);
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::number(0.1)}}));
  EXPECT_EQ(run_f64(program, {x})[0].item<double>(), double(0.1f));
}

TEST(RefereeHook, ScalarsOfFloat64ProgramsStay) {
  P program;
  const at::Tensor x = at::ones({2}, at::kDouble);
  program.input("x", x);
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::number(0.1)}}));
  EXPECT_EQ(run_f64(program, {x})[0].item<double>(), 0.1);
}

TEST(RefereeHook, BitsAreReinterpretedInTheProgramsDtype) {
  P program;
  const at::Tensor x = at::tensor({1.0f, -2.5f});
  program.input("x", x);
  program.output(program.call1("aten.view.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kI32)}}));
  EXPECT_TRUE(at::equal(run_f64(program, {x}), x.view(at::kInt)));
}

TEST(RefereeHook, NearestInterpolationPicksTheSameElements) {
  P program;
  const at::Tensor x = at::arange(12, at::kFloat).view({1, 1, 3, 4});
  program.input("x", x);
  program.output(
      program.call1("aten.upsample_nearest2d.default", {{"self", P::value("x")}, {"output_size", P::numbers({5, 7})}}));
  EXPECT_TRUE(at::equal(run_f64(program, {x}), at::upsample_nearest2d(x, {5, 7}).to(at::kDouble)));
}

TEST(RefereeHook, CastThatBecomesANoOpStillCopies) {
  P program;
  const at::Tensor x = at::ones({2});
  program.input("x", x);
  const std::string wide = program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kF64)}});
  program.call("aten.add_.Tensor", {{"self", P::value(wide)}, {"other", P::number(int64_t{5})}});
  program.output(program.call1("aten.neg.default", {{"self", P::value("x")}}));
  EXPECT_EQ(run_f64(program, {x})[0].item<double>(), -1);
}

TEST(RefereeHook, MetadataAssertionsHold) {
  P program;
  const at::Tensor x = at::ones({2});
  program.input("x", x);
  program.call("aten._assert_tensor_metadata.default", {{"a", P::value("x")}, {"dtype", P::dtype(Dtype::kF32)}});
  program.output(program.call1("aten.neg.default", {{"self", P::value("x")}}));
  run_f64(program, {x});
}

}  // namespace
}  // namespace aotifuzz
