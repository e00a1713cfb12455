#include "gate/size_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::Contains;

TEST(SizeFamily, GenericValuesComeFirstAndDiffer) {
  const SizeFamily family({{.name = "B"}, {.name = "D"}}, {});
  EXPECT_EQ(family.base(), (SymbolValues{7, 11}));
  for (const int64_t value : {0, 1, 2, 127, 128, 129, 1023, 1025}) {
    EXPECT_THAT(family.all(), Contains(SymbolValues{value, 11}));
    EXPECT_THAT(family.all(), Contains(SymbolValues{7, value}));
  }
  EXPECT_THAT(family.all(), Contains(SymbolValues{0, 0}));
  EXPECT_LT(family.few().size(), family.all().size());
}

TEST(SizeFamily, MinedConstantsComeWithTheirNeighbours) {
  const SizeFamily family({{.name = "B"}}, {4096});
  for (const int64_t value : {4095, 4096, 4097}) EXPECT_THAT(family.all(), Contains(SymbolValues{value}));
}

TEST(SizeFamily, BoundsAreKept) {
  const SizeFamily family({{.name = "B", .min = 3, .max = 64, .multiple = 8}}, {4096});
  for (const SymbolValues& values : family.all()) {
    EXPECT_GE(values[0], 3);
    EXPECT_LE(values[0], 64);
    EXPECT_EQ(values[0] % 8, 0);
  }
  EXPECT_GE(family.all().size(), 3u);
}

TEST(SizeFamily, TheSmallestLegalValuesAreTried) {
  const SizeFamily family({{.name = "B"}, {.name = "D", .min = 5}}, {});
  for (const int64_t value : {5, 6, 7}) EXPECT_THAT(family.all(), Contains(SymbolValues{7, value}));
  EXPECT_THAT(family.few(), Contains(SymbolValues{7, 5}));
  for (const SymbolValues& values : family.all()) EXPECT_GE(values[1], 5);
}

TEST(SizeFamily, OnlyWhatMeetsTheConditionsIsTried) {
  const std::vector<SpecSymbol> symbols = {{.name = "B"}, {.name = "T"}};
  const Expr b = Expr::symbol("B"), t = Expr::symbol("T");
  const std::vector<Expr> conditions = {Expr::make(ExprOp::kLt, {t, b}),
                                        Expr::make(ExprOp::kNe, {b, Expr::integer(13)})};
  const SizeFamily family(symbols, {}, conditions);
  ASSERT_TRUE(family.is_possible());
  EXPECT_GT(family.all().size(), 20u);
  for (const auto* points : {&family.all(), &family.few()})
    for (const SymbolValues& values : *points) {
      EXPECT_LT(values[1], values[0]);
      EXPECT_NE(values[0], 13);
    }
  EXPECT_THAT(family.all(), Contains(testing::ElementsAre(1, 0)));
}

TEST(SizeFamily, ConditionsThatNothingMeetsAreNoticed) {
  const Expr b = Expr::symbol("B");
  EXPECT_FALSE(SizeFamily({{.name = "B"}}, {}, {Expr::make(ExprOp::kLt, {b, b})}).is_possible());
}

TEST(SizeFamily, WithoutSymbolsThereIsOnePoint) { EXPECT_EQ(SizeFamily({}, {}).all().size(), 1u); }

TEST(SizeFamily, SmallConstantsAndHugeOnesAreNotTried) {
  EXPECT_EQ(SizeFamily::worth_trying({-5, 0, 1, 2, 64, 1'000'000}), (std::set<int64_t>{2, 64}));
}

}  // namespace
}  // namespace aotifuzz
