#include "oracles/rounding_model.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(RoundingModel, OverloadsAndInPlaceVariantsShareARow) {
  EXPECT_EQ(&rounding_row("aten.mul.Tensor"), &rounding_row("torch.ops.aten.mul_.Scalar"));
  EXPECT_EQ(rounding_row("aten.relu_.default").cls, RoundingClass::kExact);
}

TEST(RoundingModel, QuotientsWithARoundingModeAreExactUnlessTheDtypeCannotHoldThem) {
  EXPECT_EQ(rounding_row("aten.div.Tensor_mode").units, 0);
  EXPECT_EQ(rounding_row("aten.div.Tensor").units, 2);
}

TEST(RoundingModel, ReinterpretingBitsRunsInTheProgramsDtype) {
  EXPECT_EQ(rounding_row("aten.view.dtype").cls, RoundingClass::kNative);
  EXPECT_EQ(rounding_row("aten.view.default").cls, RoundingClass::kExact);
  EXPECT_EQ(rounding_row("aten.upsample_nearest2d.vec").cls, RoundingClass::kNative);
}

TEST(RoundingModel, UnknownOpsAreConservativeAndSaySo) {
  bool known = true;
  EXPECT_EQ(rounding_row("aten.some_new_thing.default", &known).cls, RoundingClass::kContraction);
  EXPECT_FALSE(known);
  EXPECT_EQ(rounding_row("mylib.op.default", &known).cls, RoundingClass::kNative);
  EXPECT_FALSE(known);
  rounding_row("aten.softmax.int", &known);
  EXPECT_TRUE(known);
}

TEST(RoundingModel, EveryNumberHasASource) {
  for (const char* target : {"aten.add.Tensor", "aten.exp.default", "aten.sum.default", "aten.linear.default",
                             "aten.layer_norm.default", "aten.fft_ifft.default", "aten.index_add.default"})
    EXPECT_NE(rounding_row(target).source, "") << target;
}

TEST(RoundingModel, LongerSumsMayErrMore) {
  EXPECT_LT(growth_units(Growth::kTree, 100), growth_units(Growth::kSequential, 100));
  EXPECT_LT(growth_units(Growth::kTree, 100), growth_units(Growth::kTree, 10000));
  EXPECT_EQ(growth_units(Growth::kNone, 10000), 0);
}

}  // namespace
}  // namespace aotifuzz
