#include "package/op_name.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(OpName, SplitsTargets) {
  EXPECT_EQ(op_base("torch.ops.aten.add.Tensor"), "aten.add");
  EXPECT_EQ(op_base("aten.add_.Tensor"), "aten.add");
  EXPECT_EQ(op_overload("torch.ops.aten.max.dim"), "dim");
  EXPECT_EQ(op_overload("_operator.mul"), "");
  EXPECT_EQ(short_target("torch.ops.mylib.foo.default"), "mylib.foo.default");
}

TEST(OpName, InPlaceIsATrailingUnderscore) {
  EXPECT_TRUE(is_in_place_name("aten.add_.Tensor"));
  EXPECT_TRUE(is_in_place_name("aten.__ior__.Tensor"));
  EXPECT_FALSE(is_in_place_name("aten._softmax.default"));
  EXPECT_FALSE(is_in_place_name("aten.__lshift__.Tensor"));
  EXPECT_EQ(op_base("aten.__lshift__.Tensor"), "aten.__lshift__");
}

}  // namespace
}  // namespace aotifuzz
