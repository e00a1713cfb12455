#include "gate/size_expr.h"

#include <gtest/gtest.h>

#include "gate/symbolic_run.h"

namespace aotifuzz {
namespace {

const std::vector<std::string> kNames = {"a", "b"};

c10::SymInt a() { return SizeExpr::symbol(0)->as_sym_int(); }
c10::SymInt b() { return SizeExpr::symbol(1)->as_sym_int(); }
int64_t at(const c10::SymInt& size, int64_t va, int64_t vb = 0) { return SizeExpr::of(size)->integer({va, vb}); }

TEST(SizeExpr, ComputesWhatSymIntArithmeticSays) {
  EXPECT_EQ(at((a() + 63) / 64 * 64, 65), 128);
  EXPECT_EQ(at(a() - b() * 2, 9, 2), 5);
  EXPECT_EQ(at(a().min(b()), 9, 2), 2);
  EXPECT_EQ(at(a().max(b()), 9, 2), 9);
  EXPECT_EQ(at(a() % 4, 7), 3);
  EXPECT_EQ(at((a() - 8) / 3, 7), -1) << "floor, as in Python";
  EXPECT_EQ(at(a() / b(), 7, 0), 0) << "nobody asks the meta at such sizes";
}

TEST(SizeExpr, ConstantsFold) {
  EXPECT_EQ((c10::SymInt(3) * 4).maybe_as_int(), 12);
  EXPECT_EQ((a() * 0).maybe_as_int(), 0);
  EXPECT_EQ(SizeExpr::of(a() * 1 + 0)->text(kNames), "a");
  EXPECT_EQ(SizeExpr::of((a() + 1) * b())->text(kNames), "((a + 1) * b)");
}

TEST(SizeExpr, ConditionsThatAlwaysHoldAreKnown) {
  const auto known = [](const c10::SymBool& condition) {
    return SizeExpr::of(condition.toSymNodeImpl()->clone())->known();
  };
  EXPECT_EQ(known(a().sym_ge(0)), true);
  EXPECT_EQ(known((a() + b()).sym_eq(b() + a())), true);
  EXPECT_EQ(known((a() + 1).sym_eq(a())), false);
  EXPECT_EQ(known(a().sym_eq(b())), std::nullopt);
  EXPECT_EQ(known(a().sym_gt(4096)), std::nullopt);
  EXPECT_EQ(known(a().sym_gt(1'000'000)), std::nullopt) << "chance does not meet it, its constant does";
  EXPECT_EQ(known((a() + 63).sym_ge(64)), std::nullopt);
}

TEST(SizeExpr, AskingForANumberIsNoted) {
  const SymbolValues values = {7, 11}, least = {0, 0};
  SymbolicRun run(values, least, kNames);
  EXPECT_EQ((a() + b()).guard_int(__FILE__, __LINE__), 18);
  EXPECT_TRUE((a() < b()));
  EXPECT_TRUE(a() >= 0);
  ASSERT_EQ(run.events().size(), 2u);
  EXPECT_EQ(run.events()[0].kind, SizeEvent::Kind::kNumber);
  EXPECT_EQ(run.events()[0].result, 18);
  EXPECT_EQ(run.events()[1].kind, SizeEvent::Kind::kBranch);
  EXPECT_FALSE(run.events()[0].frames.empty());
}

TEST(SizeExpr, NothingIsNotedInAPauseOrWithoutARun) {
  const SymbolValues values = {7, 11}, least = {0, 0};
  EXPECT_EQ(a().guard_int(__FILE__, __LINE__), 0);
  SymbolicRun run(values, least, kNames);
  const SymbolicRun::Pause pause;
  EXPECT_EQ(a().guard_int(__FILE__, __LINE__), 7);
  EXPECT_TRUE(run.events().empty());
}

TEST(SizeExpr, LeastValuesMakeConditionsKnown) {
  const SymbolValues values = {7, 11}, least = {1, 0};
  SymbolicRun run(values, least, kNames);
  EXPECT_TRUE(a() > 0);
  EXPECT_TRUE(run.events().empty());
  EXPECT_TRUE(b() > 0);
  EXPECT_EQ(run.events().size(), 1u);
}

}  // namespace
}  // namespace aotifuzz
