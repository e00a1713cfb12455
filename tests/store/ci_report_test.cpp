#include "store/ci_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

// Everything that some form must escape: ends of comments, CDATA and commands, controls, no UTF-8, a second line.
const std::string kHostile("]]> <b a='1'>&amp; \"q\" -->\x1B[31m\0\x80\xED\xA0\x80 100%\r\n::error::x,y:z \xE2\x82\xAC",
                           59);

CiItem item(const std::string& name, CiStatus status, CiLevel level = CiLevel::kError) {
  CiItem out;
  out.suite = "model.pt2";
  out.name = name;
  out.status = status;
  out.level = level;
  if (status == CiStatus::kPassed) return out;
  out.rule = "wrong-result";
  out.message = "output 0 differs";
  out.detail = "first line\nsecond line";
  out.file = "out/findings/wrong-result-1/case.txt";
  out.line = 3;
  out.fingerprint = "fault wrong-result: output 0";
  out.seconds = 1.25;
  return out;
}

CiReport example() {
  CiReport report;
  report.tool_version = "0.1.0";
  report.rules = {{"wrong-result", "outputs differ", "replay the case"}, {"crash", "a signal", ""}};
  report.items = {item("a", CiStatus::kFailed),
                  item("b", CiStatus::kPassed),
                  item("c", CiStatus::kSkipped),
                  item("d", CiStatus::kFailed, CiLevel::kWarning),
                  item("e", CiStatus::kFailed, CiLevel::kNote),
                  item("f", CiStatus::kFailed)};
  report.items[5].excuse = "known issue: https://example.org/1";
  report.items[1].suite = "other.pt2";
  return report;
}

CiReport hostile() {
  CiReport report = example();
  report.tool_version = kHostile;
  report.rules.push_back({kHostile, kHostile, kHostile});
  report.rules.push_back(report.rules[0]);
  for (CiItem& one : report.items) {
    for (std::string* text : {&one.suite, &one.name, &one.rule, &one.message, &one.detail, &one.file, &one.fingerprint})
      *text += kHostile;
    if (!one.excuse.empty()) one.excuse += kHostile;
    one.seconds = std::numeric_limits<double>::infinity();
  }
  report.items[0].detail = std::string(12 << 20, '\x80');
  report.items[0].message = std::string(1 << 20, '<');
  report.items[1].seconds = std::numeric_limits<double>::quiet_NaN();
  report.items[2].seconds = -1;
  report.items.push_back({});
  report.items.back().status = CiStatus::kFailed;
  return report;
}

class CiReports : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "aotifuzz-ci-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// What the shell command says of `text`, given as a file at its end: exit status and output.
  std::pair<int, std::string> checked(const std::string& command, const std::string& text) {
    write_file_whole(folder_ + "/report", text);
    const int status = std::system((command + " '" + folder_ + "/report' >'" + folder_ + "/said' 2>&1").c_str());
    return {WEXITSTATUS(status), read_file(folder_ + "/said")};
  }
  void expect_junit(const std::string& text) {
    const auto [status, said] = checked("xmllint --nonet --noout --schema '" AOTIFUZZ_SCHEMAS "/junit-10.xsd'", text);
    EXPECT_EQ(status, 0) << said << " (127: install libxml2-utils)";
  }
  void expect_sarif(const std::string& text) {
    const auto [status, said] = checked(AOTIFUZZ_PYTHON " '" AOTIFUZZ_SCHEMAS "/check_sarif.py'", text);
    EXPECT_EQ(status, 0) << said;
  }
  /// The value of an XPath expression.
  std::string xpath(const std::string& expression, const std::string& text) {
    return checked("xmllint --nonet --xpath \"" + expression + "\"", text).second;
  }
  std::string folder_;
};

TEST_F(CiReports, FollowTheirSchemas) {
  expect_junit(junit_xml(example()));
  expect_sarif(sarif_json(example()));
  expect_junit(junit_xml({}));
  expect_sarif(sarif_json({}));
}

TEST_F(CiReports, FollowTheirSchemasWhateverTheTextIs) {
  expect_junit(junit_xml(hostile()));
  expect_sarif(sarif_json(hostile()));
}

TEST_F(CiReports, TheCheckersNoticeWhatIsWrong) {
  const auto [junit, junit_said] = checked("xmllint --nonet --noout --schema '" AOTIFUZZ_SCHEMAS "/junit-10.xsd'",
                                           "<testsuites><testsuite name=\"x\"/></testsuites>");
  EXPECT_THAT(junit_said, HasSubstr("tests"));
  EXPECT_NE(junit, 0);
  json sarif = json::parse(sarif_json(example()));
  sarif["runs"][0]["results"][0]["odd"] = 1;
  const auto [status, said] = checked(AOTIFUZZ_PYTHON " '" AOTIFUZZ_SCHEMAS "/check_sarif.py'", sarif.dump());
  EXPECT_EQ(status, 1);
  EXPECT_THAT(said, HasSubstr("odd"));
}

TEST_F(CiReports, JunitFailsForWhatCountsOnly) {
  const std::string xml = junit_xml(example());
  EXPECT_EQ(xpath("string(/testsuites/@tests)", xml), "6\n");
  EXPECT_EQ(xpath("string(/testsuites/@failures)", xml), "1\n");
  EXPECT_EQ(xpath("string(/testsuites/testsuite[@name='model.pt2']/@skipped)", xml), "2\n");
  EXPECT_EQ(xpath("string(//testcase[@name='a']/failure/@type)", xml), "wrong-result\n");
  EXPECT_EQ(xpath("string(//testcase[@name='a']/@time)", xml), "1.250\n");
  EXPECT_EQ(xpath("string(//testcase[@name='a']/failure)", xml),
            "out/findings/wrong-result-1/case.txt:3\nfirst line\nsecond line\n");
  EXPECT_EQ(xpath("string(//testcase[@name='c']/skipped/@message)", xml), "output 0 differs\n");
  EXPECT_EQ(xpath("count(//testcase[@name='d']/failure)", xml), "0\n");
  EXPECT_THAT(xpath("string(//testcase[@name='d']/system-out)", xml), HasSubstr("wrong-result: output 0 differs"));
  EXPECT_EQ(xpath("string(//testcase[@name='f']/skipped/@message)", xml), "known issue: https://example.org/1\n");
}

TEST_F(CiReports, TextSurvivesXml) {
  CiReport report = example();
  report.items[0].message = "a <b> & \"c\" ]]> \xE2\x82\xAC";
  report.items[0].detail = "]]><x>\r\n&amp;";
  const std::string xml = junit_xml(report);
  EXPECT_EQ(xpath("string(//testcase[@name='a']/failure/@message)", xml), "a <b> & \"c\" ]]> \xE2\x82\xAC\n");
  EXPECT_THAT(xpath("string(//testcase[@name='a']/failure)", xml), HasSubstr("]]><x>\r\n&amp;"));
}

TEST_F(CiReports, SarifHoldsEachFailureOnceAndEachSkip) {
  const json run = json::parse(sarif_json(example()))["runs"][0];
  ASSERT_EQ(run["results"].size(), 4u);
  const json& first = run["results"][0];
  EXPECT_EQ(first["ruleId"], "wrong-result");
  EXPECT_EQ(run["tool"]["driver"]["rules"][first["ruleIndex"].get<size_t>()]["id"], "wrong-result");
  EXPECT_EQ(first["message"]["text"], "output 0 differs\n\nfirst line\nsecond line");
  EXPECT_EQ(first["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
  EXPECT_EQ(first["partialFingerprints"]["aotifuzz/v1"], "fault wrong-result: output 0");
  EXPECT_FALSE(first.contains("suppressions"));
  EXPECT_EQ(run["results"][1]["level"], "warning");
  EXPECT_EQ(run["results"][2]["level"], "note");
  EXPECT_EQ(run["results"][3]["suppressions"][0]["justification"], "known issue: https://example.org/1");
  ASSERT_EQ(run["invocations"][0]["toolExecutionNotifications"].size(), 1u);
  EXPECT_THAT(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].get<std::string>(),
              HasSubstr("skipped: output 0 differs"));
}

TEST_F(CiReports, PathsBecomeUris) {
  CiReport report;
  const auto uri = [&](const std::string& path) {
    report.items = {item("a", CiStatus::kFailed)};
    report.items[0].file = path;
    return json::parse(
        sarif_json(report))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  };
  EXPECT_EQ(uri("a b/c%d.txt"), "a%20b/c%25d.txt");
  EXPECT_EQ(uri("/abs/x"), "file:///abs/x");
  EXPECT_EQ(uri("c:odd"), "c%3Aodd");
  EXPECT_EQ(uri("\xFF"), "%FF");
}

/// As the runner of GitHub's actions undoes it.
std::string unescaped(std::string text) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}, {"%25", "%"}})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

TEST_F(CiReports, AnAnnotationIsOneLineThatReadsBack) {
  CiReport report;
  report.items = {item("a", CiStatus::kFailed)};
  report.items[0].file = "dir,x:y/100%.txt";
  report.items[0].message = "100%: a::b, c";
  const std::string line = github_annotations(report);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr("::error file=dir%2Cx%3Ay/100%25.txt,line=3,title=wrong-result in model.pt2::"));
  EXPECT_THAT(unescaped(line), HasSubstr("::a: 100%: a::b, c\nfirst line\nsecond line"));
}

TEST_F(CiReports, AnnotationsAreWhatCountsOrWarnsAndHostileTextIsNoCommand) {
  const std::string text = github_annotations(example());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("::warning file="));
  EXPECT_THAT(text, HasSubstr("::notice file="));
  EXPECT_THAT(text, Not(HasSubstr("known issue")));
  const std::string bad = github_annotations(hostile());
  EXPECT_EQ(std::count(bad.begin(), bad.end(), '\n'), 4);
  EXPECT_THAT(bad, Not(HasSubstr("\n::error::x")));
  EXPECT_EQ(bad.find('\r'), std::string::npos);
  EXPECT_EQ(bad.find('\x1B'), std::string::npos);
}

}  // namespace
}  // namespace aotifuzz
