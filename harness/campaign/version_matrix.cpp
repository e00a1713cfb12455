#include "campaign/version_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "campaign/ci_items.h"
#include "core/error.h"
#include "store/html_page.h"

namespace aotifuzz {
namespace {

using Status = MatrixCell::Status;

std::string cell_text(const MatrixCell& cell) {
  if (cell.status == Status::kFlaky) return fmt::format("flaky {}/{}", cell.replay->reproduced, cell.replay->tries);
  return std::string(matrix_status_name(cell.status));
}

bool has_answer(const MatrixCell& cell) { return cell.status != Status::kNotJudged && cell.status != Status::kNotRun; }

/// Whether it always fails or now and then is no change of the compiler's.
Status answer_of(const MatrixCell& cell) { return cell.status == Status::kFlaky ? Status::kFails : cell.status; }

std::string counts_of(const VersionMatrix& matrix, size_t column) {
  std::map<std::string, int> counts;
  for (const MatrixRow& row : matrix.rows) ++counts[std::string(matrix_status_name(answer_of(row.cells[column])))];
  std::string out;
  for (const auto& [status, count] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, status);
  return out;
}

/// An error with its place, on one line.
std::string on_one_line(const std::string& text) {
  constexpr std::string_view kWhere = "\n  where: ";
  std::string out = text.substr(0, text.find('\n'));
  if (const size_t at = text.find(kWhere); at != text.npos) {
    const size_t from = at + kWhere.size();
    out += " (" + text.substr(from, text.find('\n', from) - from) + ")";
  }
  return out;
}

}  // namespace

std::string_view matrix_status_name(Status status) {
  switch (status) {
    case Status::kFails:
      return "fails";
    case Status::kFlaky:
      return "flaky";
    case Status::kRight:
      return "right";
    case Status::kChanged:
      return "changed";
    case Status::kCannotCompile:
      return "cannot compile";
    case Status::kNotJudged:
      return "not judged";
    case Status::kNotRun:
      return "not run";
  }
  return "";
}

MatrixCell replayed_cell(ReplayResult result) {
  using Replay = ReplayResult::Status;
  MatrixCell cell;
  cell.status = result.status == Replay::kStillFails || result.status == Replay::kFails ? Status::kFails
                : result.status == Replay::kFlaky                                       ? Status::kFlaky
                : result.status == Replay::kChanged                                     ? Status::kChanged
                : result.status == Replay::kNotJudged                                   ? Status::kNotJudged
                                                                                        : Status::kRight;
  for (const std::string& fails : result.fails) cell.detail += (cell.detail.empty() ? "" : "; ") + fails;
  if (!result.note.empty() && cell.detail.empty()) cell.detail = result.note;
  cell.replay = std::move(result);
  return cell;
}

MatrixCell unanswered_cell(Status status, const std::string& why) {
  MatrixCell cell;
  cell.status = status;
  cell.detail = why;
  return cell;
}

std::string changes_of(const MatrixRow& row, const std::vector<TorchVersion>& versions) {
  std::string out;
  const MatrixCell* before = nullptr;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const MatrixCell& cell = row.cells[i];
    if (!has_answer(cell)) continue;
    const bool changed = before && answer_of(*before) != answer_of(cell);
    // Of a case that nothing is expected of, or that changed already, what fails says more than that it fails.
    const bool otherwise = before && !changed && cell.detail != before->detail &&
                           (cell.status == Status::kChanged || (cell.status == Status::kFails && !row.expectation));
    if (changed || otherwise)
      out += fmt::format("{}{} from {} on", out.empty() ? "" : "; ",
                         otherwise ? "fails in another way" : matrix_status_name(answer_of(cell)), versions[i].text());
    before = &cell;
  }
  return out;
}

int matrix_exit_code(const VersionMatrix& matrix, bool expect_failing, bool fail_on_gaps) {
  bool bad = false, blind = false;
  for (const MatrixRow& row : matrix.rows)
    for (const MatrixCell& cell : row.cells) {
      if (!cell.replay) {
        const bool surprise = expect_failing && cell.status == Status::kCannotCompile;
        bad = bad || surprise;
        blind = blind || !surprise;
      } else if (expect_failing) {
        bad = bad || is_surprise(*cell.replay);
      } else {
        bad = bad || (cell.replay->fails_now() && (cell.replay->fault || fail_on_gaps));
        blind = blind || cell.status == Status::kNotJudged;
      }
    }
  return bad ? kExitFaults : blind ? kExitWorld : kExitNoFaults;
}

std::string print_matrix(const VersionMatrix& matrix) {
  constexpr int kWidth = 16;
  std::string out;
  for (const TorchVersion& version : matrix.versions) out += fmt::format("{:<{}}", version.text(), kWidth);
  out += "case\n";
  for (const MatrixRow& row : matrix.rows) {
    for (const MatrixCell& cell : row.cells) out += fmt::format("{:<{}}", cell_text(cell), kWidth);
    const std::string changes = changes_of(row, matrix.versions);
    out += row.name + (changes.empty() ? "" : ": " + changes) + "\n";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const MatrixCell& cell = row.cells[i];
      const bool as_expected = row.expectation && (cell.status == Status::kFails || cell.status == Status::kFlaky);
      if (!cell.detail.empty() && cell.status != Status::kRight && !as_expected)
        out += fmt::format("  {}: {}: {}\n", matrix.versions[i].text(), matrix_status_name(cell.status),
                           on_one_line(cell.detail));
      if (!cell.note.empty()) out += fmt::format("  {}: {}\n", matrix.versions[i].text(), cell.note);
    }
  }
  for (size_t i = 0; i < matrix.versions.size(); ++i)
    out += fmt::format("torch {}: {}\n", matrix.versions[i].text(), counts_of(matrix, i));
  return out;
}

std::string matrix_json(const VersionMatrix& matrix, int exit_code) {
  auto versions = nlohmann::ordered_json::array(), cases = nlohmann::ordered_json::array();
  for (const TorchVersion& version : matrix.versions) versions.push_back(version.text());
  for (const MatrixRow& row : matrix.rows) {
    auto cells = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const MatrixCell& cell = row.cells[i];
      nlohmann::ordered_json written = {{"status", matrix_status_name(cell.status)}, {"detail", cell.detail}};
      if (!cell.note.empty()) written["note"] = cell.note;
      if (cell.replay) {
        written["reproduced"] = cell.replay->reproduced;
        written["tries"] = cell.replay->tries;
        written["as_expected"] = !is_surprise(*cell.replay);
      }
      cells[matrix.versions[i].text()] = std::move(written);
    }
    cases.push_back({{"case", row.path},
                     {"expected", row.expected},
                     {"changes", changes_of(row, matrix.versions)},
                     {"torch", std::move(cells)}});
  }
  const nlohmann::ordered_json root = {
      {"versions", std::move(versions)}, {"cases", std::move(cases)}, {"exit_code", exit_code}};
  return root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string matrix_html(const VersionMatrix& matrix) {
  std::string body = "<h1>Cases against versions of torch</h1>\n<table>\n<tr><th>case</th>";
  for (const TorchVersion& version : matrix.versions) body += "<th>" + html_text(version.text()) + "</th>";
  body += "<th>changes</th></tr>\n";
  for (const MatrixRow& row : matrix.rows) {
    body += "<tr><td>" + html_text(row.name);
    if (!row.expected.empty()) body += "<br/><span class=\"faint\">" + html_text(row.expected) + "</span>";
    body += "</td>";
    for (const MatrixCell& cell : row.cells) {
      const char* style = cell.status == Status::kRight                                    ? "good"
                          : cell.status == Status::kFails || cell.status == Status::kFlaky ? "bad"
                          : has_answer(cell)                                               ? "warn"
                                                                                           : "faint";
      body += fmt::format("<td class=\"{}\" title=\"{}\">{}</td>", style, html_text(cell.detail),
                          html_text(cell_text(cell)));
    }
    body += "<td>" + html_text(changes_of(row, matrix.versions)) + "</td></tr>\n";
  }
  body += "</table>\n<ul>\n";
  for (size_t i = 0; i < matrix.versions.size(); ++i)
    body += "<li>torch " + html_text(matrix.versions[i].text() + ": " + counts_of(matrix, i)) + "</li>\n";
  return html_page("aotifuzz: versions of torch", body + "</ul>\n");
}

std::vector<CiItem> matrix_items(const VersionMatrix& matrix, bool expect_failing, bool fail_on_gaps) {
  std::vector<CiItem> items;
  for (size_t i = 0; i < matrix.versions.size(); ++i) {
    const std::string suite = "torch " + matrix.versions[i].text();
    for (const MatrixRow& row : matrix.rows) {
      const MatrixCell& cell = row.cells[i];
      if (cell.replay) {
        CorpusEntry entry;
        entry.path = row.path;
        entry.name = row.name;
        entry.expectation = row.expectation;
        items.push_back(replay_item(entry, *cell.replay, suite, {fail_on_gaps, expect_failing}, matrix.options));
      } else {
        items.push_back(
            not_run_item(row.path, suite, std::string(matrix_status_name(cell.status)) + ": " + cell.detail));
      }
    }
  }
  return items;
}

}  // namespace aotifuzz
