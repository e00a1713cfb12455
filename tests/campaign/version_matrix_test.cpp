#include "campaign/version_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "campaign/matrix_run.h"
#include "core/error.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using Status = MatrixCell::Status;
using Replay = ReplayResult::Status;

MatrixCell ran(Replay status, bool fault = true, bool expected_to_fail = true) {
  ReplayResult result;
  result.status = status;
  result.fault = fault;
  result.tries = 5;
  result.reproduced = status == Replay::kFlaky ? 2 : 5;
  result.expected_to_fail = expected_to_fail;
  return replayed_cell(result);
}

VersionMatrix matrix_of(std::vector<MatrixCell> cells) {
  VersionMatrix matrix;
  matrix.versions = {{2, 11, 0}, {2, 13, 0}, {2, 15, 0}};
  matrix.versions.resize(cells.size());
  MatrixRow row;
  row.path = "corpus/a <b>/case.txt";
  row.name = "a <b>";
  row.cells = std::move(cells);
  matrix.rows.push_back(std::move(row));
  return matrix;
}

std::string changes(std::vector<MatrixCell> cells) {
  const VersionMatrix matrix = matrix_of(std::move(cells));
  return changes_of(matrix.rows[0], matrix.versions);
}

TEST(VersionMatrix, SaysWithWhichVersionTheAnswerChanges) {
  EXPECT_EQ(changes({ran(Replay::kStillFails), ran(Replay::kStillFails), ran(Replay::kFixed)}), "right from 2.15.0 on");
  EXPECT_EQ(changes({ran(Replay::kFixed), ran(Replay::kStillFails), ran(Replay::kFixed)}),
            "fails from 2.13.0 on; right from 2.15.0 on");
  EXPECT_EQ(changes({ran(Replay::kStillFails), unanswered_cell(Status::kNotRun, "x"), ran(Replay::kFlaky)}), "");
  EXPECT_EQ(changes({ran(Replay::kStillFails), unanswered_cell(Status::kCannotCompile, "x"), ran(Replay::kChanged)}),
            "cannot compile from 2.13.0 on; changed from 2.15.0 on");
}

TEST(VersionMatrix, AnotherFaultIsAChangeToo) {
  MatrixCell first = ran(Replay::kFails), second = ran(Replay::kFails);
  first.detail = "fault wrong-result: a";
  second.detail = "fault crash: b";
  EXPECT_EQ(changes({first, first}), "");
  EXPECT_EQ(changes({first, second}), "fails in another way from 2.13.0 on");
}

TEST(VersionMatrix, ExitCodes) {
  const auto code = [](std::vector<MatrixCell> cells, bool expect_failing = false, bool gaps = false) {
    return matrix_exit_code(matrix_of(std::move(cells)), expect_failing, gaps);
  };
  EXPECT_EQ(code({ran(Replay::kFixed), ran(Replay::kPasses)}), kExitNoFaults);
  EXPECT_EQ(code({ran(Replay::kStillFails), ran(Replay::kFixed)}), kExitFaults);
  EXPECT_EQ(code({ran(Replay::kStillFails, /*fault=*/false)}), kExitNoFaults);
  EXPECT_EQ(code({ran(Replay::kStillFails, /*fault=*/false)}, false, /*gaps=*/true), kExitFaults);
  EXPECT_EQ(code({ran(Replay::kFixed), unanswered_cell(Status::kNotRun, "x")}), kExitWorld);
  EXPECT_EQ(code({ran(Replay::kStillFails), ran(Replay::kFixed, true, /*expected_to_fail=*/false)}, true),
            kExitNoFaults);
  EXPECT_EQ(code({ran(Replay::kStillFails), ran(Replay::kFixed)}, true), kExitFaults);
  EXPECT_EQ(code({ran(Replay::kStillFails, true, /*expected_to_fail=*/false)}, true), kExitFaults);
  EXPECT_EQ(code({unanswered_cell(Status::kCannotCompile, "x")}, true), kExitFaults);
  EXPECT_EQ(code({unanswered_cell(Status::kCannotCompile, "x")}), kExitWorld);
}

TEST(VersionMatrix, EveryFormHasEveryCell) {
  VersionMatrix matrix = matrix_of(
      {ran(Replay::kFlaky), unanswered_cell(Status::kCannotCompile, "no <kernel>\nsecond line"), ran(Replay::kFixed)});
  const std::string text = print_matrix(matrix);
  EXPECT_THAT(text, HasSubstr("2.11.0          2.13.0          2.15.0          case\n"));
  EXPECT_THAT(text, HasSubstr("flaky 2/5       cannot compile  right           a <b>"));
  EXPECT_THAT(text, HasSubstr("  2.13.0: cannot compile: no <kernel>\n"));
  EXPECT_THAT(text, HasSubstr("torch 2.15.0: 1 right"));

  const auto json = nlohmann::json::parse(matrix_json(matrix, 1));
  EXPECT_EQ(json["cases"][0]["torch"]["2.11.0"]["status"], "flaky");
  EXPECT_EQ(json["cases"][0]["torch"]["2.13.0"]["detail"], "no <kernel>\nsecond line");
  EXPECT_EQ(json["exit_code"], 1);

  const std::string html = matrix_html(matrix);
  EXPECT_THAT(html, HasSubstr("a &lt;b&gt;"));
  EXPECT_THAT(html, HasSubstr("<td class=\"good\""));
  EXPECT_EQ(html.find("<b>"), std::string::npos);

  matrix.options = "--torch 2.11.0,2.15.0 --package a.pt2";
  const std::vector<CiItem> items = matrix_items(matrix, /*expect_failing=*/false, /*fail_on_gaps=*/false);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].suite, "torch 2.11.0");
  EXPECT_EQ(items[0].status, CiStatus::kFailed);
  EXPECT_THAT(items[0].detail, HasSubstr(" --torch 2.11.0,2.15.0 --package a.pt2\n"));
  EXPECT_THAT(items[1].message, HasSubstr("cannot compile"));
  EXPECT_EQ(items[2].status, CiStatus::kPassed);
}

TEST(VersionMatrix, VersionsAreReadFromAList) {
  std::vector<TorchBuild> installed(2);
  installed[0].version = {2, 15, 0};
  installed[1].version = {2, 11, 0};
  EXPECT_EQ(matrix_builds("2.11, 2.15.0", installed).size(), 2u);
  EXPECT_THROW(matrix_builds("2.11.0,", installed), UsageError);
  EXPECT_THROW(matrix_builds("2.11.0,2.11", installed), UsageError);
  EXPECT_THROW(matrix_builds("2.11.0,2.13.0", installed), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
