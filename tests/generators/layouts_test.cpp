#include "generators/layouts.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/rapidcheck_choices.h"

namespace aotifuzz {
namespace {

using Strides = std::vector<int64_t>;

CaseInput tensor(std::vector<int64_t> sizes, std::optional<Strides> strides = std::nullopt) {
  CaseInput input;
  input.name = "x";
  input.sizes = std::move(sizes);
  input.strides = std::move(strides);
  return input;
}

std::optional<Strides> laid_out(LayoutKind kind, CaseInput input) {
  BytesChoices simplest({});
  if (!apply_layout(kind, simplest, input)) return std::nullopt;
  return input.effective_strides();
}

TEST(Layouts, KindsGiveTheStridesOfTheirNames) {
  EXPECT_EQ(laid_out(LayoutKind::kTransposed, tensor({2, 3, 4})), (Strides{12, 1, 3}));
  EXPECT_EQ(laid_out(LayoutKind::kRowGap, tensor({2, 3, 4})), (Strides{15, 5, 1}));
  EXPECT_EQ(laid_out(LayoutKind::kEverySecond, tensor({2, 3, 4})), (Strides{24, 8, 2}));
  EXPECT_EQ(laid_out(LayoutKind::kBatchSlice, tensor({2, 3, 4})), (Strides{24, 4, 1}));
  EXPECT_EQ(laid_out(LayoutKind::kExpanded, tensor({2, 3, 4})), (Strides{0, 4, 1}));
  EXPECT_EQ(laid_out(LayoutKind::kChannelsLast, tensor({2, 3, 4, 5})), (Strides{60, 1, 15, 3}));
  EXPECT_EQ(laid_out(LayoutKind::kRowMajor, tensor({4, 6}, Strides{1, 4})), (Strides{6, 1}));
}

TEST(Layouts, KindsStartFromTheExportedOrder) {
  EXPECT_EQ(laid_out(LayoutKind::kTransposed, tensor({4, 6}, Strides{1, 4})), (Strides{6, 1}));
  EXPECT_EQ(laid_out(LayoutKind::kRowGap, tensor({4, 6}, Strides{1, 4})), (Strides{1, 5}));
}

TEST(Layouts, WhatChangesNoStrideThatCountsIsRefused) {
  for (LayoutKind kind : kLayoutKinds) {
    EXPECT_FALSE(laid_out(kind, tensor({}))) << layout_kind_name(kind);
    EXPECT_FALSE(laid_out(kind, tensor({1, 1, 1, 1}))) << layout_kind_name(kind);
    EXPECT_FALSE(laid_out(kind, tensor({4, 0, 3, 3}))) << layout_kind_name(kind);
  }
  EXPECT_FALSE(laid_out(LayoutKind::kTransposed, tensor({5})));
  EXPECT_FALSE(laid_out(LayoutKind::kTransposed, tensor({5, 1})));
  EXPECT_FALSE(laid_out(LayoutKind::kChannelsLast, tensor({2, 3, 4})));
  EXPECT_FALSE(laid_out(LayoutKind::kRowMajor, tensor({4, 6})));
  EXPECT_FALSE(laid_out(LayoutKind::kBatchSlice, tensor({1, 6})));
}

TEST(Layouts, PermutedIsNeverTheOrderItWas) {
  std::set<Strides> seen;
  for (uint64_t k = 0; k < 200; ++k) {
    CaseInput input = tensor({2, 3, 4});
    RapidCheckChoices choices(1, k);
    if (apply_layout(LayoutKind::kPermuted, choices, input)) seen.insert(input.effective_strides());
  }
  EXPECT_FALSE(seen.contains(Strides{12, 4, 1}));
  EXPECT_EQ(seen.size(), 5u);
}

TEST(Layouts, DenseStridesAreNotStated) {
  CaseInput input = tensor({4, 6}, Strides{1, 4});
  BytesChoices simplest({});
  ASSERT_TRUE(apply_layout(LayoutKind::kRowMajor, simplest, input));
  EXPECT_FALSE(input.strides);
}

TEST(Layouts, OverlapSharesTheStorageOfTheEarlierInput) {
  BytesChoices simplest({});
  CaseInput x = tensor({4}), y = tensor({4});
  y.name = "y";
  ASSERT_TRUE(apply_overlap(OverlapKind::kSameTensor, simplest, x, y));
  EXPECT_EQ(y.storage_of, "x");
  EXPECT_EQ(y.offset, 0);
  CaseInput z = tensor({4});
  ASSERT_TRUE(apply_overlap(OverlapKind::kShifted, simplest, x, z));
  EXPECT_EQ(z.offset, 1);
}

TEST(Layouts, OverlapNeedsTwoStoragesOfOneDtype) {
  BytesChoices simplest({});
  CaseInput x = tensor({4}), other_dtype = tensor({4}), empty = tensor({0}), other_size = tensor({5}),
            one = tensor({1});
  other_dtype.dtype = Dtype::kI64;
  EXPECT_FALSE(apply_overlap(OverlapKind::kSameTensor, simplest, x, other_dtype));
  EXPECT_FALSE(apply_overlap(OverlapKind::kShifted, simplest, x, empty));
  EXPECT_FALSE(apply_overlap(OverlapKind::kSameTensor, simplest, x, other_size));
  EXPECT_FALSE(apply_overlap(OverlapKind::kShifted, simplest, one, x));
}

TEST(Layouts, PlacementKeepsElementsOnTheirOwnAlignment) {
  int moved = 0;
  for (uint64_t k = 0; k < 500; ++k) {
    CaseInput input = tensor({4});
    RapidCheckChoices choices(1, k);
    choose_placement(choices, input);
    EXPECT_EQ(input.misalign_bytes % 4, 0);
    EXPECT_LT(input.misalign_bytes, 64);
    moved += input.offset != 0 || input.misalign_bytes != 0;
  }
  EXPECT_GT(moved, 20);
  EXPECT_LT(moved, 150);
}

}  // namespace
}  // namespace aotifuzz
