#include "store/finding_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "store/issue_report.h"
#include "store/python_reproducer.h"

namespace aotifuzz {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("/._-+=:@%,").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string replay_command(const std::string& folder) { return "aotifuzz replay " + shell_word(folder); }

std::string print_finding_case(const Finding& finding, const std::string& folder) {
  const Verdict& verdict = finding.verdict;
  const std::string text = print_case(finding.minimal);
  const size_t first_line = text.find('\n') + 1;
  std::string head;
  head += "# " + std::string(verdict.fault ? "fault" : "gap") + ": " + one_line(verdict.signature) + "\n";
  if (!verdict.reason.empty()) head += "# " + one_line(verdict.reason) + "\n";
  head += "# package " + one_line(finding.package) + ", came " + std::to_string(finding.reproduced) + " of " +
          std::to_string(finding.tries) + " times in fresh processes\n";
  head += "# replay: " + one_line(replay_command(folder)) + "\n";
  return text.substr(0, first_line) + head + text.substr(first_line);
}

void write_finding_folder(const std::string& folder, const Finding& found, const FindingContext& context) {
  namespace fs = std::filesystem;
  // One that is there already is written over file by file.
  const bool there = fs::exists(folder);
  const fs::path place = folder;
  const std::string staging =
      there ? folder : (place.parent_path() / (std::string(kUnfinished) + place.filename().string())).string();
  make_folder(staging);
  Finding finding = found;
  finding.minimal = keep_case_files(found.minimal, staging);
  finding.original = keep_case_files(found.original, staging);
  for (Case& before : finding.before) before = keep_case_files(before, staging);
  write_file_whole(staging + "/case.txt", print_finding_case(finding, folder));
  write_file_whole(staging + "/original.txt", print_case(finding.original));
  const std::string script = print_python_reproducer(finding, context);
  write_file_whole(staging + "/repro.py", script);
  write_file_whole(staging + "/report.md", print_issue_report(finding, context, script, folder));
  write_file_whole(staging + "/finding.json", print_finding(finding, context));
  if (!there) rename_folder(staging, folder);
}

}  // namespace aotifuzz
