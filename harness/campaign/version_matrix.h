#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/replay.h"
#include "core/torch_version.h"
#include "store/ci_report.h"

namespace aotifuzz {

/// What became of one case with one version of torch.
struct MatrixCell {
  enum class Status { kFails, kFlaky, kRight, kChanged, kCannotCompile, kNotJudged, kNotRun };
  Status status = Status::kNotRun;
  std::string detail;                  ///< what fails, or why there is no answer; may be empty
  std::string note;                    ///< that the package is of another version than the column; "" = it is not
  std::optional<ReplayResult> replay;  ///< where the case ran
};
std::string_view matrix_status_name(MatrixCell::Status status);  ///< "fails", "cannot compile"

MatrixCell replayed_cell(ReplayResult result);
MatrixCell unanswered_cell(MatrixCell::Status status, const std::string& why);

/// One case with each version.
struct MatrixRow {
  std::string path;  ///< of the case text
  std::string name;
  std::string expected;  ///< signature; "" = nothing is
  std::optional<Expectation> expectation;
  std::vector<MatrixCell> cells;
};

/// Cases against versions of torch, which go up from left to right.
struct VersionMatrix {
  std::vector<TorchVersion> versions;
  std::vector<MatrixRow> rows;
  std::string options;  ///< of `replay`, with which one of the cases comes out like this again
};

/// Where the answer changes from one version to the next: "right from 2.13.0 on; fails from 2.15.0 on", "fails in
/// another way from 2.14.1 on"; "" = nowhere. A version without an answer (not run, not judged) is passed over.
std::string changes_of(const MatrixRow& row, const std::vector<TorchVersion>& versions);

/// With `expect_failing`, 1 when a case is not what its expectation says of a version; else 1 when a fault fails with
/// any of them (`fail_on_gaps`: or a gap). 3 when something did not run or, with nothing expected, did not compile.
int matrix_exit_code(const VersionMatrix& matrix, bool expect_failing, bool fail_on_gaps);

/// A line for each case, the versions as columns; below it why a cell has no answer.
std::string print_matrix(const VersionMatrix& matrix);
/// {"versions": [...], "cases": [{"case", "expected", "changes", "torch": {"2.11.0": {"status", "detail"}}}],
/// "exit_code"}
std::string matrix_json(const VersionMatrix& matrix, int exit_code);
/// One page, offline.
std::string matrix_html(const VersionMatrix& matrix);
/// An item for each cell; the suite is the version.
std::vector<CiItem> matrix_items(const VersionMatrix& matrix, bool expect_failing, bool fail_on_gaps);

}  // namespace aotifuzz
