#include "store/html_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

CampaignRecord record_example() {
  CampaignRecord record;
  record.package = "models/m.pt2";
  record.conditions = {"x.size(0) <= 64", "y.size(0) == x.size(1)"};
  record.broken = {{"x.size(0) <= 64", 5}};
  record.dimensions["x.size(0)"] = {0, 33, 10, {0, 16, 64}, {0, 16}, {64}};
  record.dimensions["x.size(1)"] = {1, 9, 10, {}, {}, {}};
  record.layouts = {{"dense", 8}, {"permuted+offset", 2}};
  record.not_judged = {"random numbers: aten.rand"};
  record.cases = 10;
  record.judged = 10;
  record.seconds = 90;
  record.cells = {"a"};
  record.excuses = {{"gap-crash-2", "known issue 7: because"}};
  record.runs = {{1'700'000'000, 90, 10, {{1, 0, 6}, {2, 0, 4}}}};
  record.samples = {{1, 1, 1, 0}, {45, 5, 1, 1}, {90, 10, 1, 2}};
  return record;
}

FindingRecord finding_example(const std::string& slug, VerdictClass cls, bool fault) {
  FindingRecord finding;
  finding.slug = slug;
  finding.folder = "out/findings/" + slug;
  finding.package_hash = "00aa";
  finding.verdict.cls = cls;
  finding.verdict.fault = fault;
  finding.verdict.signature = "signature of " + slug;
  finding.certificate = {"x.size(0): 16 fails, 15 passes"};
  finding.case_text = "aotifuzz-case 1\ninput x f32[16] const(0)\n";
  return finding;
}

std::vector<FindingRecord> findings_example() {
  return {finding_example("wrong-result-1", VerdictClass::kWrongResult, true),
          finding_example("gap-crash-2", VerdictClass::kCrash, false)};
}

void expect_well_formed(const std::string& html) {
  std::string path = fs::temp_directory_path() / "aotifuzz-html-XXXXXX";
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  write_file_whole(path, html);
  const int status = std::system(("xmllint --nonet --noout '" + path + "' >'" + path + ".said' 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << read_file(path + ".said") << " (127: install libxml2-utils)";
  fs::remove(path);
  fs::remove(path + ".said");
}

TEST(HtmlReport, SaysWhatWasTestedAndWhatWasNot) {
  const std::string html = print_html_report({{"00aa", record_example()}}, findings_example());
  expect_well_formed(html);
  for (const char* part :
       {"<h2>Faults: 1</h2>", "<h2>Gaps: 0</h2>", "<h2>Known, do not count: 1</h2>", "known issue 7: because",
        "x.size(0): 16 fails, 15 passes", "href=\"findings/wrong-result-1/report.md\"", "input x f32[16] const(0)",
        "<li>x.size(0): 64</li>", "<li>x.size(0): never beyond 33, declared up to 64</li>",
        "<li>x.size(1): never beyond 9</li>", "<li>y.size(0) == x.size(1)</li>", "<li>expanded</li>",
        "random numbers: aten.rand", "1: 0 + 6, 2: 0 + 4", "2023-11-14 22:13 UTC"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("<li>x.size(0) &lt;= 64</li>"))) << "it was broken, and is listed with its count";
  EXPECT_THAT(html, Not(HasSubstr("<li>permuted</li>"))) << "it was tried";
}

TEST(HtmlReport, NeedsNothingFromElsewhere) {
  const std::string html = print_html_report({{"00aa", record_example()}}, findings_example());
  for (const char* part : {"<script", "src=", "url(", "@import", "<link", "http://", "https://"}) {
    // The namespace is a name, not an address.
    std::string rest = html;
    const std::string name = "xmlns=\"http://www.w3.org/1999/xhtml\"";
    rest.erase(rest.find(name), name.size());
    EXPECT_THAT(rest, Not(HasSubstr(part)));
  }
}

TEST(HtmlReport, WhatIsNotKnownIsLeftOut) {
  CampaignRecord record;
  record.package = "m.pt2";
  const std::string html = print_html_report({{"00aa", record}}, {});
  expect_well_formed(html);
  EXPECT_THAT(html, HasSubstr("<h2>Faults: 0</h2>"));
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("Conditions of the contract")));
}

TEST(HtmlReport, HostileTextStaysText) {
  const std::string hostile = "</pre><script>alert(1)</script>\"' ]]> \x01\x80 &amp;";
  CampaignRecord record = record_example();
  record.package = record.not_judged[0] = record.conditions[0] = hostile;
  record.layouts[hostile] = record.skips[hostile] = 1;
  record.dimensions[hostile] = {1, 2, 1, {}, {}, {}};
  record.environment[hostile] = hostile;
  std::vector<FindingRecord> findings = findings_example();
  findings[0].slug = findings[0].folder = findings[0].case_text = findings[0].verdict.signature = hostile;
  findings[0].verdict.reason = findings[0].certificate[0] = hostile;
  findings[0].verdict.measures = {{hostile, hostile}};
  const std::string html = print_html_report({{"00aa", record}}, findings);
  expect_well_formed(html);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(HtmlReport, FindingsOfAnotherPackageStandUnderIt) {
  std::vector<FindingRecord> findings = findings_example();
  findings[0].package_hash = "00bb";
  CampaignRecord other = record_example();
  other.package = "other.pt2";
  const std::string html = print_html_report({{"00aa", record_example()}, {"00bb", other}}, findings);
  EXPECT_LT(html.find("other.pt2"), html.find("signature of wrong-result-1"));
}

}  // namespace
}  // namespace aotifuzz
