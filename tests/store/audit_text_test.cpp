#include "store/audit_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AuditReport example() {
  AuditReport report;
  report.package = "model.pt2";
  report.torch = "2.15.0";
  report.cases = 20;
  report.seconds = 1.5;
  AuditItem item;
  item.subject = AuditSubject::kRelation;
  item.name = "x.size(0) % 2 == 0";
  item.declared = "required";
  item.enforced_off = "not refused";
  item.enforced_on = "refused";
  item.safe = "right in 0 of 3";
  AuditLine line;
  line.word = AuditWord::kUnsafe;
  line.what = "x.size(0) = 7";
  line.verdict.emplace();
  line.verdict->status = VerdictStatus::kFail;
  line.verdict->cls = VerdictClass::kAcceptsIllegal;
  line.verdict->reason = "the package returns <6> rows";
  line.verdict->signature = "odd";
  line.refused_with_checks = true;
  line.reproduced = line.tries = 3;
  line.folder = "out/findings/a";
  line.guard.python = {"torch._check(x.size(0) % 2 == 0)"};
  line.guard.automatic = {{"x", 0}};
  line.guard.cpp = "TORCH_CHECK(x.size(0) % 2 == 0, \"x\");";
  item.lines.push_back(line);
  AuditItem strict;
  strict.name = "x.size(0)";
  AuditLine refused;
  refused.word = AuditWord::kTooStrict;
  refused.what = "x.size(0) = 1: legal, and refused with input checks on";
  strict.lines.push_back(refused);
  report.items = {strict, item};
  report.untried = {{"grid limit", "not run"}};
  report.not_judged = {{"out of memory", 2}};
  report.unconfirmed = {"y: 3"};
  return report;
}

TEST(AuditText, UnsafeLeadsWithItsGuardAndItsCase) {
  const std::string text = print_audit(example());
  EXPECT_LT(text.find("unsafe"), text.find("too strict"));
  for (const char* part :
       {"x.size(0) % 2 == 0: x.size(0) = 7", "accepts-illegal: the package returns <6> rows",
        "outside the contract, refused with input checks on; came 3 of 3 times", "torch._check(x.size(0) % 2 == 0)",
        "Dim.AUTO for x.size(0)", "TORCH_CHECK(x.size(0) % 2 == 0", "aotifuzz replay out/findings/a", "not tried: 1",
        "grid limit: not run", "not judged, 2 runs: out of memory", "y: 3",
        "1 unsafe, 0 unjudged, 1 too strict, 0 unreached, 0 items ok; 20 runs in 1.5 s"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(AuditText, SaysHowManyCasesWereReduced) {
  AuditReport report = example();
  EXPECT_THAT(print_audit(report), Not(HasSubstr("1-minimal")));
  report.items[1].lines[0].one_minimal = true;
  report.reduced = 1;
  report.reduction_runs = 28;
  EXPECT_THAT(print_audit(report), HasSubstr("cases of unsafe lines: 1 reduced until 1-minimal, in 28 runs\n"));
  EXPECT_THAT(print_audit(report), HasSubstr("in fresh processes; its case is 1-minimal"));
  report.reduction_cut_short = 2;
  report.reduction_unconfirmed = 3;
  EXPECT_THAT(print_audit(report), HasSubstr("in 28 runs; 2 not: no time left; 3 left as found: the simpler"));
  EXPECT_THAT(audit_html(report), HasSubstr("1 reduced until 1-minimal"));
  const auto root = nlohmann::json::parse(audit_json(report, 1));
  EXPECT_EQ(root["reduced"], 1);
  EXPECT_EQ(root["reduction_cut_short"], 2);
  EXPECT_EQ(root["items"][1]["lines"][0]["one_minimal"], true);
}

TEST(AuditText, SaysWhatWasCutShortAndWhatNobodyKnows) {
  AuditReport report = example();
  EXPECT_THAT(print_audit(report), Not(HasSubstr("not enough")));
  EXPECT_THAT(print_audit(report), Not(HasSubstr("no reference")));
  report.out_of_time = true;
  report.has_reference = false;
  EXPECT_THAT(print_audit(report), HasSubstr("which was not enough for all (--time)"));
  EXPECT_THAT(print_audit(report), HasSubstr("no reference"));
}

TEST(AuditJson, HoldsWhatAProgramNeeds) {
  const auto root = nlohmann::json::parse(audit_json(example(), 1));
  EXPECT_EQ(root["counts"]["unsafe"], 1);
  EXPECT_EQ(root["counts"]["too strict"], 1);
  EXPECT_EQ(root["exit_code"], 1);
  const auto& line = root["items"][1]["lines"][0];
  EXPECT_EQ(line["verdict"], "unsafe");
  EXPECT_EQ(line["section"], "gap");
  EXPECT_EQ(line["guard"]["python"][0], "torch._check(x.size(0) % 2 == 0)");
  EXPECT_EQ(line["guard"]["automatic"][0]["input"], "x");
  EXPECT_EQ(line["folder"], "out/findings/a");
  EXPECT_EQ(root["not_tried"][0]["why"], "not run");
}

TEST(AuditJson, SurvivesBytesThatAreNoText) {
  AuditReport report = example();
  report.items[0].name = "\xff\xfe";
  EXPECT_TRUE(nlohmann::json::parse(audit_json(report, 0), nullptr, false).is_object());
}

TEST(AuditHtml, EscapesWhatThePackageSays) {
  const std::string page = audit_html(example());
  EXPECT_THAT(page, HasSubstr("the package returns &lt;6&gt; rows"));
  EXPECT_THAT(page, Not(HasSubstr("<6>")));
  EXPECT_THAT(page, HasSubstr("TORCH_CHECK"));
  EXPECT_THAT(page, HasSubstr("grid limit"));
}

TEST(AuditText, RecordedGuardsStandWithTheirLines) {
  AuditReport report = example();
  report.items[0].lines[0].because = {"x.size(0) >= 2, the range [2, int_oo]"};
  report.items[1].lines[0].because = {"a at m.py:1", "b at m.py:2", "c at m.py:3", "d at m.py:4", "e <f> at m.py:5"};
  report.trace_notes = {"2 of 9 entries cannot be read"};
  const std::string text = print_audit(report);
  for (const char* part :
       {"            because of x.size(0) >= 2, the range", "            because of a at m.py:1\n",
        "            and 2 more recorded guards\n", "compile-time trace: 2 of 9 entries cannot be read\n"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("d at m.py:4")));
  EXPECT_THAT(audit_html(report), HasSubstr("<p>because of a at m.py:1</p>"));
  const auto json = nlohmann::json::parse(audit_json(report, 1));
  EXPECT_EQ(json["items"][1]["lines"][0]["because"].size(), 5u);
  EXPECT_EQ(json["trace_notes"][0], "2 of 9 entries cannot be read");
  // Inside the contract the guard that is broken need not be the cause.
  report.items[1].lines[0].inside = true;
  EXPECT_THAT(print_audit(report), HasSubstr("            breaks a at m.py:1\n"));
}

}  // namespace
}  // namespace aotifuzz
