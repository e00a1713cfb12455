#include "generators/value_styles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "generators/rapidcheck_choices.h"

namespace aotifuzz {
namespace {

using Kind = ValueRole::Kind;

const std::vector<Dtype> kDtypes = {Dtype::kF32, Dtype::kF64,  Dtype::kF16,     Dtype::kBF16, Dtype::kC64,
                                    Dtype::kI64, Dtype::kI32,  Dtype::kI16,     Dtype::kI8,   Dtype::kU8,
                                    Dtype::kU16, Dtype::kBool, Dtype::kF8E4M3FN};
const std::vector<Kind> kRoles = {Kind::kPlain,  Kind::kIndex,   Kind::kMask,  Kind::kOffsets,
                                  Kind::kSorted, Kind::kDivisor, Kind::kShift, Kind::kCount};

/// Values of every draw of the styles that are, or are not, special.
template <class Visit>
void for_each_value(Dtype dtype, Kind role, bool special, ValueContext context, Visit visit) {
  context.dtype = dtype;
  for (const ValueStyle& style : value_styles(dtype, role)) {
    if (style.special != special) continue;
    for (uint64_t k = 0; k < 20; ++k) {
      RapidCheckChoices choices(1, k);
      const ValueRecipe recipe = style.make(choices, context);
      for (int64_t i = 0; i < context.numel; ++i) visit(style, value_at(recipe, i, context.numel));
    }
  }
}

TEST(ValueStyles, EveryTableIsSoundForEveryDtypeAndRole) {
  for (Dtype dtype : kDtypes) {
    for (Kind role : kRoles) {
      const std::span<const ValueStyle> styles = value_styles(dtype, role);
      ASSERT_FALSE(styles.empty());
      EXPECT_FALSE(styles[0].special);
      std::set<std::string_view> names;
      for (const ValueStyle& style : styles) {
        EXPECT_TRUE(names.insert(style.name).second) << style.name;
        EXPECT_GT(style.weight, 0);
      }
    }
  }
}

TEST(ValueStyles, EveryStyleFillsTensorsOfAnySize) {
  std::vector<uint8_t> buffer(16 * 100);
  for (Dtype dtype : kDtypes) {
    for (Kind role : kRoles) {
      for (int64_t numel : {0, 1, 2, 100}) {
        for (std::optional<int64_t> bound :
             {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(7)}) {
          for (const ValueStyle& style : value_styles(dtype, role)) {
            RapidCheckChoices choices(2, 0);
            fill_values(style.make(choices, {dtype, numel, bound}), dtype, numel, buffer.data());
          }
        }
      }
    }
  }
}

TEST(ValueStyles, PlainFloatsAreFinite) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16})
    for (Kind role : {Kind::kPlain, Kind::kSorted, Kind::kDivisor})
      for_each_value(dtype, role, false, {dtype, 40, {}},
                     [](const ValueStyle& style, Number v) { ASSERT_TRUE(std::isfinite(to_double(v))) << style.name; });
}

TEST(ValueStyles, PlainIndicesAreInRange) {
  for_each_value(Dtype::kI64, Kind::kIndex, false, {Dtype::kI64, 40, 7}, [](const ValueStyle& style, Number v) {
    ASSERT_GE(to_int64(v), 0) << style.name;
    ASSERT_LT(to_int64(v), 7) << style.name;
  });
}

TEST(ValueStyles, SpecialIndicesReachEachSideOfTheRange) {
  std::set<int64_t> seen;
  for_each_value(Dtype::kI64, Kind::kIndex, true, {Dtype::kI64, 40, 7},
                 [&](const ValueStyle&, Number v) { seen.insert(to_int64(v)); });
  for (int64_t edge : {-1, -7, -8, 7}) EXPECT_TRUE(seen.contains(edge)) << edge;
  EXPECT_GT(*seen.rbegin(), 1000);
}

TEST(ValueStyles, SpecialIndicesChangeOneElementOnly) {
  for (const ValueStyle& style : value_styles(Dtype::kI64, Kind::kIndex)) {
    if (!style.special) continue;
    for (uint64_t k = 0; k < 20; ++k) {
      RapidCheckChoices choices(1, k);
      const ValueRecipe recipe = style.make(choices, {Dtype::kI64, 40, 7});
      int outside = 0;
      for (int64_t i = 0; i < 40; ++i)
        outside += to_int64(value_at(recipe, i, 40)) < 0 || to_int64(value_at(recipe, i, 40)) > 6;
      EXPECT_EQ(outside, 1) << style.name;
    }
  }
}

TEST(ValueStyles, PlainOffsetsStartAtZeroEndAtTheTotalAndNeverFall) {
  for (const ValueStyle& style : value_styles(Dtype::kI64, Kind::kOffsets)) {
    for (uint64_t k = 0; k < 20; ++k) {
      RapidCheckChoices choices(1, k);
      const ValueRecipe recipe = style.make(choices, {Dtype::kI64, 5, 12});
      bool sound = to_int64(value_at(recipe, 0, 5)) == 0 && to_int64(value_at(recipe, 4, 5)) == 12;
      for (int64_t i = 1; i < 5; ++i) sound &= to_int64(value_at(recipe, i, 5)) >= to_int64(value_at(recipe, i - 1, 5));
      EXPECT_EQ(sound, !style.special) << style.name;
    }
  }
}

TEST(ValueStyles, PlainDivisorsAreNeverZeroWhereEagerRaises) {
  for (Dtype dtype : {Dtype::kI32, Dtype::kI64, Dtype::kU8})
    for_each_value(dtype, Kind::kDivisor, false, {dtype, 40, {}},
                   [](const ValueStyle& style, Number v) { ASSERT_NE(to_int64(v), 0) << style.name; });
}

TEST(ValueStyles, IntegersStayWithinTheirDtype) {
  for (Dtype dtype : {Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64}) {
    const IntegralRange range = dtype_integral_range(dtype);
    for_each_value(dtype, Kind::kPlain, false, {dtype, 40, {}}, [&](const ValueStyle& style, Number v) {
      ASSERT_GE(to_int64(v), range.min) << style.name;
      ASSERT_LE(to_int64(v), range.max) << style.name;
    });
  }
}

TEST(ValueStyles, ShiftsStayBelowTheWidthUnlessSpecial) {
  for_each_value(Dtype::kI32, Kind::kShift, false, {Dtype::kI32, 40, {}}, [](const ValueStyle&, Number v) {
    ASSERT_GE(to_int64(v), 0);
    ASSERT_LT(to_int64(v), 32);
  });
  std::set<int64_t> seen;
  for_each_value(Dtype::kI32, Kind::kShift, true, {Dtype::kI32, 40, {}},
                 [&](const ValueStyle&, Number v) { seen.insert(to_int64(v)); });
  EXPECT_TRUE(seen.contains(32));
  EXPECT_TRUE(seen.contains(-1));
}

}  // namespace
}  // namespace aotifuzz
