#include "worker/weight_store.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

WeightInfo weight(const std::string& fqn, const std::string& member, std::vector<int64_t> sizes,
                  std::vector<int64_t> strides, int64_t offset = 0) {
  WeightInfo info;
  info.fqn = fqn;
  info.member = member;
  info.meta.dtype = Dtype::kF32;
  for (int64_t size : sizes) info.meta.sizes.push_back(Expr::integer(size));
  for (int64_t stride : strides) info.meta.strides.push_back(Expr::integer(stride));
  info.meta.offset = Expr::integer(offset);
  return info;
}

std::string floats(std::vector<float> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

TEST(WeightStore, LayoutsAreKeptAndWeightsOfOneMemberShareTheirStorage) {
  const TemporaryFile file("w.pt2");
  write_zip(file.path(), {{"a", floats({0, 1, 2, 3, 4, 5})}});
  Program program;
  program.weights = {weight("t", "a", {2, 2}, {1, 2}, 1), weight("all", "a", {6}, {1})};
  WeightStore store(program, file.path());
  EXPECT_EQ(store.find("t").strides(), (c10::IntArrayRef{1, 2}));
  EXPECT_EQ(store.find("t")[1][1].item<float>(), 4);
  EXPECT_TRUE(store.find("t").is_alias_of(store.find("all")));
  EXPECT_TRUE(store.owns_storage(store.find("t").storage().data()));
  EXPECT_TRUE(store.find_wide("t").is_alias_of(store.find_wide("all")));
  EXPECT_EQ(store.find_wide("t").scalar_type(), at::kDouble);
  EXPECT_EQ(store.find_wide("t")[1][1].item<double>(), 4);
  EXPECT_FALSE(store.find("nothing").defined());
}

TEST(WeightStore, AMemberThatIsTooShortIsRefused) {
  const TemporaryFile file("w.pt2");
  write_zip(file.path(), {{"a", floats({0, 1, 2})}});
  for (const WeightInfo& bad :
       {weight("x", "a", {2, 2}, {2, 1}), weight("x", "a", {3}, {1}, 1), weight("x", "a", {2}, {-1}),
        weight("x", "a", {2}, {1}, -1), weight("x", "lost", {1}, {1})}) {
    Program program;
    program.weights = {bad};
    EXPECT_THROW(WeightStore(program, file.path()), HarnessError);
  }
}

TEST(WeightStore, PickledWeightsAreNamedNotRead) {
  Program program;
  program.weights = {weight("odd", "a", {1}, {1})};
  program.weights[0].pickled = true;
  const WeightStore store(program, "");
  EXPECT_THAT(store.unsupported(), ::testing::ElementsAre(::testing::HasSubstr("odd")));
}

TEST(Widened, KeepsLayoutAliasingAndIntegers) {
  const at::Tensor base = at::arange(12, at::kHalf);
  const at::Tensor view = base.slice(0, 2, 10, 2), number = at::arange(3),
                   zero = at::_efficientzerotensor({3}, at::kFloat);
  const auto wide =
      widened({base, view, number, zero, at::Tensor(), at::ones({2}, at::kComplexFloat), at::empty({0, 2})});
  EXPECT_EQ(wide[0].scalar_type(), at::kDouble);
  EXPECT_TRUE(wide[0].is_alias_of(wide[1]));
  EXPECT_EQ(wide[1].strides(), view.strides());
  EXPECT_EQ(wide[1].storage_offset(), 2);
  EXPECT_EQ(wide[1][3].item<double>(), 8);
  EXPECT_TRUE(wide[2].is_same(number));
  EXPECT_EQ(wide[3].scalar_type(), at::kDouble);
  EXPECT_FALSE(wide[4].defined());
  EXPECT_EQ(wide[5].scalar_type(), at::kComplexDouble);
  EXPECT_EQ(wide[6].sizes(), (c10::IntArrayRef{0, 2}));
}

}  // namespace
}  // namespace aotifuzz
