#include "core/verdict.h"

#include <gtest/gtest.h>

#include <set>

namespace aotifuzz {
namespace {

TEST(Verdict, EveryClassHasItsOwnNameAndReadsBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(VerdictClass::kAcceptsIllegal); ++i) {
    const VerdictClass cls = static_cast<VerdictClass>(i);
    const std::string_view name = verdict_class_name(cls);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(verdict_class_from_name(name), cls);
  }
  EXPECT_EQ(names.size(), 11u);
}

TEST(Verdict, AnUnknownNameIsNoClass) {
  EXPECT_FALSE(verdict_class_from_name("wrong_result"));
  EXPECT_FALSE(verdict_class_from_name(""));
}

TEST(Verdict, StatusNamesAreTheWordsOfTheReport) {
  EXPECT_EQ(verdict_status_name(VerdictStatus::kPass), "pass");
  EXPECT_EQ(verdict_status_name(VerdictStatus::kMistrusted), "mistrusted");
}

}  // namespace
}  // namespace aotifuzz
