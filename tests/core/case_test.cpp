#include "core/case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace aotifuzz {
namespace {

CaseInput tensor(std::vector<int64_t> sizes) {
  CaseInput input;
  input.name = "x";
  input.sizes = std::move(sizes);
  return input;
}

TEST(Case, DenseStridesCountEmptyDimensionsAsOne) {
  EXPECT_EQ(CaseInput::dense_strides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(CaseInput::dense_strides({2, 0, 4}), (std::vector<int64_t>{4, 4, 1}));  // as torch.empty(2, 0, 4).stride()
  EXPECT_EQ(CaseInput::dense_strides({}), std::vector<int64_t>{});
}

TEST(Case, StorageSpansFromItsStartToTheLastElement) {
  CaseInput x = tensor({2, 3});
  EXPECT_EQ(x.storage_elements(), 6);
  x.strides = {{10, 2}};
  x.offset = 5;
  EXPECT_EQ(x.storage_elements(), 5 + 10 + 4 + 1);
  x.strides = {{0, 0}};
  EXPECT_EQ(x.storage_elements(), 6);
  x.sizes = {0, 3};
  EXPECT_EQ(x.storage_elements(), 0);
  EXPECT_EQ(tensor({}).storage_elements(), 1);
}

TEST(Case, HugeSizesSaturateInsteadOfOverflowing) {
  EXPECT_EQ(tensor({INT64_MAX, INT64_MAX}).numel(), INT64_MAX);
  EXPECT_EQ(tensor({INT64_MAX, 4}).storage_elements(), INT64_MAX);
  EXPECT_EQ(tensor({INT64_MAX, 0}).numel(), 0);
}

TEST(Case, EqualityLooksAtEveryField) {
  const CaseInput base = tensor({2, 3});
  const auto differs = [&](auto change) {
    CaseInput other = base;
    change(other);
    return !(base == other);
  };
  EXPECT_FALSE(differs([](CaseInput&) {}));
  EXPECT_TRUE(differs([](CaseInput& i) { i.name = "y"; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.kind = CaseInput::Kind::kInt; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.dtype = Dtype::kF64; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.sizes = {3, 2}; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.strides = {{3, 1}}; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.offset = 1; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.misalign_bytes = 1; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.storage_of = "w"; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.zero_tensor = true; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.values.patches = {{0, int64_t{1}}}; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.scalar = int64_t{1}; }));
  EXPECT_TRUE(differs([](CaseInput& i) { i.scalar = 0.0; }));

  Case one;
  one.inputs = {base};
  one.then = {{{base}, 1}};
  const auto case_differs = [&](auto change) {
    Case other = one;
    change(other);
    return !(one == other);
  };
  EXPECT_FALSE(case_differs([](Case&) {}));
  EXPECT_TRUE(case_differs([](Case& c) { c.inputs.clear(); }));
  EXPECT_TRUE(case_differs([](Case& c) { c.input_checks = true; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.runs = 3; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.threads = 4; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.then.clear(); }));
  EXPECT_TRUE(case_differs([](Case& c) { c.then[0].times = 2; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.then[0].inputs[0].offset = 1; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.callers = 2; }));
  EXPECT_TRUE(case_differs([](Case& c) { c.constants = CaseConstants::kSwapped; }));
}

TEST(Case, EqualityOfScalarsIsBitwise) {
  CaseInput x = tensor({}), y = tensor({});
  x.scalar = y.scalar = std::nan("");
  EXPECT_TRUE(x == y);
  x.scalar = 0.0;
  y.scalar = -0.0;
  EXPECT_FALSE(x == y);
}

}  // namespace
}  // namespace aotifuzz
