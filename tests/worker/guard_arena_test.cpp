#include "worker/guard_arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace aotifuzz {
namespace {

TEST(GuardArena, SlotsLieInOrderAndFarApart) {
  GuardArena arena(size_t{1} << 40);
  for (int i = 0; i < 600; ++i) ASSERT_EQ(arena.carve((i % 7 + 1) * GuardArena::kPage), i);
  ASSERT_EQ(arena.carve(size_t{3} << 30), 600);
  ASSERT_EQ(arena.carve(GuardArena::kPage), 601);
  for (int i = 1; i < arena.count(); ++i)
    EXPECT_GE(arena.slot(i).base, arena.slot(i - 1).end() + GuardArena::kGuard) << i;
  EXPECT_TRUE(arena.contains(arena.slot(0).base - GuardArena::kGuard));
}

TEST(GuardArena, FindsTheSlotNearAnAddress) {
  GuardArena arena(size_t{1} << 36);
  for (int i = 0; i < 5; ++i) arena.carve(size_t{20} << 20);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(arena.slot_near(arena.slot(i).base), i);
    EXPECT_EQ(arena.slot_near(arena.slot(i).end() - 1), i);
    EXPECT_EQ(arena.slot_near(arena.slot(i).end() + 100), i);
  }
  EXPECT_EQ(arena.slot_near(&arena), -1);
  EXPECT_EQ(arena.slot_near(arena.slot(4).end() + (size_t{1} << 30)), -1);
}

TEST(GuardArena, OpenSlotsKeepTheirContentsAndDroppedOnesLoseThem) {
  GuardArena arena(size_t{1} << 36);
  const int slot = arena.carve(2 * GuardArena::kPage);
  char* base = arena.slot(slot).base;
  ASSERT_TRUE(arena.open(slot));
  std::memset(base, 7, 2 * GuardArena::kPage);
  ASSERT_TRUE(arena.close(slot));
  ASSERT_TRUE(arena.open(slot));
  EXPECT_EQ(base[GuardArena::kPage], 7);
  arena.drop(slot);
  ASSERT_TRUE(arena.open(slot));
  EXPECT_EQ(base[GuardArena::kPage], 0);
}

TEST(GuardArena, TakesLessWhereTheSystemGivesLessAndEndsWhereItEnds) {
  GuardArena huge(size_t{1} << 60);
  EXPECT_EQ(huge.carve(GuardArena::kPage), 0);
  GuardArena small(8 * GuardArena::kGranule);
  int carved = 0;
  while (small.carve(GuardArena::kPage) >= 0) ++carved;
  EXPECT_EQ(carved, 7);
  EXPECT_EQ(small.carve(size_t{1} << 50), -1);
}

TEST(GuardArenaDeathTest, ClosedSlotsAndGuardsCannotBeTouched) {
  GuardArena arena(size_t{1} << 36);
  const int slot = arena.carve(GuardArena::kPage);
  arena.open(slot);
  volatile char* base = arena.slot(slot).base;
  base[0] = 1;
  EXPECT_EXIT({ (void)base[-1]; }, ::testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT({ base[GuardArena::kPage] = 1; }, ::testing::KilledBySignal(SIGSEGV), "");
  arena.close(slot);
  EXPECT_EXIT({ (void)base[0]; }, ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace aotifuzz
