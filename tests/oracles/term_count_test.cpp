#include "oracles/term_count.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "oracles/op_schema.h"

namespace aotifuzz {
namespace {

int64_t terms(const char* target, const torch::jit::Stack& arguments) {
  return count_terms(rounding_row(target).length, *find_op_schema(target), arguments);
}

TEST(TermCount, ReductionsCountWhatTheyReduce) {
  const at::Tensor x = at::ones({3, 4, 5});
  EXPECT_EQ(terms("aten.sum.dim_IntList", {x, c10::List<int64_t>({0, 2}), false, c10::IValue()}), 15);
  EXPECT_EQ(terms("aten.sum.default", {x, c10::IValue()}), 60);
  EXPECT_EQ(terms("aten.softmax.int", {x, int64_t{-2}, c10::IValue()}), 4);
  EXPECT_EQ(terms("aten.cumsum.default", {x, int64_t{1}, c10::IValue()}), 4);
}

TEST(TermCount, MatrixProductsCountTheInnerSize) {
  const at::Tensor a = at::ones({3, 7}), b = at::ones({7, 2});
  EXPECT_EQ(terms("aten.mm.default", {a, b}), 7);
  EXPECT_EQ(terms("aten.addmm.default", {at::ones({2}), a, b, int64_t{1}, int64_t{1}}), 7);
}

TEST(TermCount, ConvolutionsCountWeightsPerOutputChannel) {
  const c10::List<int64_t> one({1, 1}), zero({0, 0});
  EXPECT_EQ(terms("aten.conv2d.default",
                  {at::ones({1, 3, 8, 8}), at::ones({16, 3, 5, 5}), c10::IValue(), one, zero, one, int64_t{1}}),
            75);
}

TEST(TermCount, AddsToMemoryCountTheIndices) {
  EXPECT_EQ(terms("aten.index_add.default",
                  {at::ones({3}), int64_t{0}, at::zeros({9}, at::kLong), at::ones({9}), int64_t{1}}),
            9);
}

}  // namespace
}  // namespace aotifuzz
