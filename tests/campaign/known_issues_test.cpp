#include "campaign/known_issues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/atomic_file.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr const char* kTwo = R"(# what we know
issue https://example.org/1
class wrong-result
op aten.max.dim
where x.size(0) >= 16 and x.size(0) % 16 != 0
case a/case.txt
case b.txt
reason read in the wrong order

  issue 2
  class memory-fault
  section gap
  relation y.size(0) == x.size(1)
  reason no check
)";

std::string error_of(const std::string& text) {
  const auto issues = parse_known_issues(text);
  return issues ? "none" : issues.error().where + ": " + issues.error().what;
}

TEST(KnownIssues, AreReadAsTheyAreWritten) {
  const auto issues = parse_known_issues(kTwo);
  ASSERT_TRUE(issues) << issues.error().what;
  ASSERT_EQ(issues->size(), 2u);
  EXPECT_EQ((*issues)[0].link, "https://example.org/1");
  EXPECT_EQ((*issues)[0].cases, (std::vector<std::string>{"a/case.txt", "b.txt"}));
  EXPECT_EQ((*issues)[0].line, 2);
  EXPECT_EQ((*issues)[1].cls, VerdictClass::kMemoryFault);
  EXPECT_EQ((*issues)[1].fault, false);
  EXPECT_EQ((*issues)[1].line, 10);
  EXPECT_TRUE(parse_known_issues("# nothing\n\n")->empty());
}

TEST(KnownIssues, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("issue 1\nclass odd\n"), "line 2: unknown verdict class \"odd\"");
  EXPECT_EQ(error_of("\nissue 1\nclass crash\nop a\n"), "line 2: the issue that begins here has no \"reason\"");
  EXPECT_THAT(error_of("issue 1\nclass crash\nreason r\n"),
              HasSubstr("line 1: the issue that begins here has none of"));
  EXPECT_THAT(error_of("issue 1\nissue 2\n"), HasSubstr("line 2: a second \"issue\""));
  EXPECT_THAT(error_of("issue 1\nwhere x.size(0) >=\n"), HasSubstr("line 2: not a condition on sizes"));
  EXPECT_THAT(error_of("issue 1\nwhere sin(x.size(0)) > 1\n"), HasSubstr("line 2: not integer arithmetic"));
  EXPECT_EQ(error_of("frob 1\n"), "line 1: unknown keyword \"frob\"");
  EXPECT_EQ(error_of("issue\n"), "line 1: nothing after \"issue\"");
  EXPECT_EQ(error_of("issue 1\nsection all\n"), "line 2: neither \"fault\" nor \"gap\"");
}

TEST(KnownIssues, EveryFieldNarrowsTheMatch) {
  const auto issues = *parse_known_issues(kTwo);
  const Verdict wrong = failed("wrong-result output 1 aten.max.dim");
  EXPECT_TRUE(matches(issues[0], wrong, tied_case(17, 2)));
  EXPECT_FALSE(matches(issues[0], wrong, tied_case(32, 2))) << "where";
  EXPECT_FALSE(matches(issues[0], wrong, {})) << "a name that the case does not have";
  EXPECT_FALSE(matches(issues[0], failed("wrong-result output 1 aten.max.dim_max"), tied_case(17, 2))) << "op";
  EXPECT_FALSE(matches(issues[0], failed("output 1 aten.max.dim", true, VerdictClass::kUnstable), tied_case(17, 2)));
  EXPECT_FALSE(matches(issues[0], passed(), tied_case(17, 2)));
  const Verdict stray =
      failed("memory-fault read past end of input y, breaks y.size(0) == x.size(1)", false, VerdictClass::kMemoryFault);
  EXPECT_TRUE(matches(issues[1], stray, tied_case(1, 1)));
  Verdict fault = stray;
  fault.fault = true;
  EXPECT_FALSE(matches(issues[1], fault, tied_case(1, 1))) << "section";
  EXPECT_EQ(known_issue_excuse(issues, stray, tied_case(1, 1)), "known issue 2: no check");
  EXPECT_EQ(known_issue_excuse(issues, fault, tied_case(1, 1)), "");
}

TEST(KnownIssues, AKernelIsAWordOfSignatureReasonOrMeasures) {
  const auto issue = (*parse_known_issues("issue 1\nclass wrong-result\nkernel cpp_fused_add_0\nreason r\n"))[0];
  Verdict verdict = failed("wrong-result output 0");
  EXPECT_FALSE(matches(issue, verdict, tied_case(1, 1)));
  verdict.reason = "made by cpp_fused_add_0.";
  EXPECT_TRUE(matches(issue, verdict, tied_case(1, 1)));
  verdict.reason = "made by cpp_fused_add_01";
  EXPECT_FALSE(matches(issue, verdict, tied_case(1, 1)));
  verdict.measures.emplace_back("first bad kernel", "cpp_fused_add_0, call 3");
  EXPECT_TRUE(matches(issue, verdict, tied_case(1, 1)));
}

TEST(KnownIssues, CasesAreRelativeToTheFileAndErrorsNameIt) {
  std::string folder = std::filesystem::temp_directory_path() / "aotifuzz-known-XXXXXX";
  ASSERT_TRUE(::mkdtemp(folder.data()));
  write_file_whole(folder + "/known.txt", kTwo);
  EXPECT_EQ(load_known_issues(folder + "/known.txt")[0].cases[0], folder + "/a/case.txt");
  write_file_whole(folder + "/known.txt", "odd\n");
  try {
    load_known_issues(folder + "/known.txt");
    ADD_FAILURE();
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder + "/known.txt, line 1"));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace aotifuzz
