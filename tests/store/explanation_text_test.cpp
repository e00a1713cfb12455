#include "store/explanation_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ExplainReport report() {
  ExplainReport out;
  Explanation one;
  one.pattern = "hang";
  one.title = "the call does not end";
  one.line = 7;
  one.times = 3;
  one.text = "timed out \xff";
  one.meaning = "a loop";
  one.culprit = "the loop";
  one.change = "bound it";
  one.facts = {{"kernel", "cpp_fused_0"}};
  one.commands = {"aotifuzz replay CASE"};
  out.found.push_back(one);
  out.steps = {{"contract", "allows it", true}, {"sanitizer", "no GPU", false}};
  out.conclusion = {"culprit: the loop"};
  out.minimal_case = "aotifuzz-case 1\ninput x f32[1] const(0)\n";
  return out;
}

TEST(ExplanationText, SaysEverythingAndWhatWasLeftOut) {
  std::ostringstream out;
  print_explanations(report(), out);
  for (const char* part :
       {"the call does not end   [hang]", "line 7: timed out", "and 2 more lines", "at fault: the loop",
        "kernel: cpp_fused_0", "to change: bound it", "    aotifuzz replay CASE", "contract: allows it",
        "sanitizer: not done: no GPU", "  culprit: the loop", "  input x f32[1] const(0)"})
    EXPECT_THAT(out.str(), HasSubstr(part));
}

TEST(ExplanationText, NothingKnownPrintsNoEmptyParts) {
  ExplainReport nothing;
  nothing.notes = {"not known"};
  std::ostringstream out;
  print_explanations(nothing, out);
  EXPECT_EQ(out.str(), "note: not known\n");
}

TEST(ExplanationText, TheJsonHasTheSame) {
  const nlohmann::ordered_json json = explanations_json(report());
  EXPECT_EQ(json["found"][0]["pattern"], "hang");
  EXPECT_EQ(json["found"][0]["facts"][0]["value"], "cpp_fused_0");
  EXPECT_EQ(json["steps"][1]["done"], false);
  EXPECT_EQ(json["fault"], false);
}

}  // namespace
}  // namespace aotifuzz
