#include "oracles/op_traits.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(OpTraits, DropoutIsRandomOnlyInTraining) {
  EXPECT_TRUE(is_random_op("aten.dropout.default", true));
  EXPECT_FALSE(is_random_op("aten.dropout.default", false));
  EXPECT_TRUE(is_random_op("aten.rand_like.default", false));
  EXPECT_TRUE(is_random_op("aten.bernoulli_.float", false));
  EXPECT_FALSE(is_random_op("aten.add.Tensor", true));
}

TEST(OpTraits, KnowsWhichResultHoldsPositions) {
  EXPECT_EQ(arg_reduction("aten.argmax.default")->index_result, 0);
  EXPECT_TRUE(arg_reduction("aten.argmax.default")->whole_if_no_dim);
  EXPECT_EQ(arg_reduction("aten.max.dim")->index_result, 1);
  EXPECT_FALSE(arg_reduction("aten.max.default"));
  EXPECT_FALSE(arg_reduction("aten.max.other"));
  EXPECT_TRUE(arg_reduction("aten.topk.default")->distinct);
  EXPECT_EQ(arg_reduction("aten.argsort.stable")->index_result, 0);
  EXPECT_FALSE(arg_reduction("aten.msort.default"));
}

TEST(OpTraits, ReinterpretingBitsDoesNotKeepValues) {
  EXPECT_TRUE(keeps_values_in_order("aten.view.default"));
  EXPECT_FALSE(keeps_values_in_order("aten.view.dtype"));
  EXPECT_FALSE(keeps_values_in_order("aten.permute.default"));
}

}  // namespace
}  // namespace aotifuzz
