#include "oracles/legal_noise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

const RoundingRow& row(const char* target) { return rounding_row(target); }

TEST(LegalNoise, ValuesThatTheDtypeHoldsStayExact) {
  NoiseStream noise(7);
  const at::Tensor whole = at::arange(-50, 50, at::kDouble);
  EXPECT_FALSE(noisy_result(whole, Dtype::kF32, row("aten.mul.Tensor"), RoundingStyle::kRandom, {}, noise).defined());
}

TEST(LegalNoise, ARoundedResultIsOneOfTheTwoNeighbours) {
  NoiseStream noise(7);
  const at::Tensor tenth = at::full({200}, 0.1, at::kDouble);
  const at::Tensor result = noisy_result(tenth, Dtype::kF32, row("aten.mul.Tensor"), RoundingStyle::kRandom, {}, noise);
  ASSERT_TRUE(result.defined());
  const double up = 0.1f, down = std::nextafter(0.1f, 0.0f);
  EXPECT_TRUE(((result == up) | (result == down)).all().item<bool>());
  EXPECT_TRUE((result == up).any().item<bool>());
  EXPECT_TRUE((result == down).any().item<bool>());
}

TEST(LegalNoise, SixteenBitValuesMayStayInFloat32) {
  NoiseStream noise(7);
  const at::Tensor value = at::full({4}, 1 + 0x1p-12, at::kDouble);
  const RoundingRow& mul = row("aten.mul.Tensor");
  EXPECT_FALSE(noisy_result(value, Dtype::kBF16, mul, RoundingStyle::kKeepFloat32, {}, noise).defined());
  const at::Tensor stored = noisy_result(value, Dtype::kBF16, mul, RoundingStyle::kNearest, {}, noise);
  EXPECT_EQ(stored[0].item<double>(), 1.0);
}

TEST(LegalNoise, Float64MovesByUlpsOnly) {
  NoiseStream noise(7);
  const at::Tensor value = at::full({100}, 0.1, at::kDouble);
  const at::Tensor result = noisy_result(value, Dtype::kF64, row("aten.mul.Tensor"), RoundingStyle::kRandom, {}, noise);
  ASSERT_TRUE(result.defined());
  EXPECT_LT((result - value).abs().max().item<double>(), 0.1 * 4 * 0x1p-52);
}

TEST(LegalNoise, OperandsOfLongSumsMoveMore) {
  NoiseStream noise(7);
  const at::Tensor x = at::ones({1000}, at::kDouble);
  const double near = (noisy_operand(x, Dtype::kF32, row("aten.sum.default"), 4, noise) - x).abs().max().item<double>();
  const double far =
      (noisy_operand(x, Dtype::kF32, row("aten.cumsum.default"), 4000, noise) - x).abs().max().item<double>();
  EXPECT_LT(near, 10 * 0x1p-24);
  EXPECT_GT(far, 100 * 0x1p-24);
  EXPECT_LT(far, 8000 * 0x1p-24);
}

// A mask of -inf in front of a softmax made every sample NaN, so that nothing was left of what is legal.
TEST(LegalNoise, InfinitiesStayInfinite) {
  NoiseStream noise(7);
  const double infinity = std::numeric_limits<double>::infinity();
  const at::Tensor x = at::tensor({infinity, -infinity, 1.0}, at::kDouble).repeat({100});
  for (const char* op : {"aten.softmax.int", "aten.mm.default", "aten.cumsum.default"}) {
    const at::Tensor moved = noisy_operand(x, Dtype::kF32, row(op), 64, noise);
    EXPECT_TRUE(at::equal(moved.isinf(), x.isinf())) << op;
    EXPECT_TRUE(at::equal(moved.sign(), x.sign())) << op;
  }
  const at::Tensor result =
      noisy_result(x * 0.1, Dtype::kF32, row("aten.softmax.int"), RoundingStyle::kRandom, x.abs(), noise);
  ASSERT_TRUE(result.defined());
  EXPECT_FALSE(result.isnan().any().item<bool>());
}

TEST(LegalNoise, SmallIntegersSumExactly) {
  const at::Tensor x = at::arange(100, at::kDouble);
  EXPECT_TRUE(sums_are_exact({x}, Dtype::kF32, 100));
  EXPECT_FALSE(sums_are_exact({x + 0.1}, Dtype::kF32, 100));
  EXPECT_FALSE(sums_are_exact({x * 1e6, x}, Dtype::kF32, 100));
}

TEST(LegalNoise, OverflowOnTheWayIsSeen) {
  const at::Tensor x = at::full({10}, 1e20, at::kDouble);
  EXPECT_FALSE(sums_may_overflow({x}, Dtype::kF32, 10, 1));
  EXPECT_TRUE(sums_may_overflow({x}, Dtype::kF32, 10, 2));
  EXPECT_FALSE(sums_may_overflow({x}, Dtype::kF64, 10, 2));
  EXPECT_TRUE(sums_may_overflow({x * 1e18}, Dtype::kF32, 10, 1));
  EXPECT_FALSE(sums_may_overflow({at::full({3}, 60000.0, at::kDouble)}, Dtype::kF16, 100, 1)) << "adds up in float32";
}

TEST(LegalNoise, ComplexPartsErrByTheModulus) {
  NoiseStream noise(7);
  const at::Tensor z = at::complex(at::full({64}, 1e-12, at::kDouble), at::full({64}, 1.1, at::kDouble));
  RoundingRow mul = row("aten.mul.Tensor");
  const at::Tensor result = noisy_result(z, Dtype::kC64, mul, RoundingStyle::kRandom, {}, noise);
  ASSERT_TRUE(result.defined());
  EXPECT_GT((at::real(result) - 1e-12).abs().max().item<double>(), 1e-9);
}

TEST(LegalNoise, TheSameSeedGivesTheSameNoise) {
  const at::Tensor x = at::full({10}, 0.1, at::kDouble);
  NoiseStream a(3), b(3), c(4);
  const auto draw = [&](NoiseStream& stream) {
    return noisy_operand(x, Dtype::kF32, row("aten.sum.default"), 10, stream);
  };
  const at::Tensor first = draw(a);
  EXPECT_TRUE(at::equal(first, draw(b)));
  EXPECT_FALSE(at::equal(first, draw(c)));
}

}  // namespace
}  // namespace aotifuzz
