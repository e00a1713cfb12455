#include "targets/minimize_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "campaign/confirmed_reduction.h"
#include "campaign/package_session.h"
#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "targets/command_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

/// The case as text under the comment lines that its file had.
std::string with_comments_of(const std::string& old_text, const Case& c, const std::string& folder) {
  std::istringstream lines(old_text);
  std::string line, comments;
  while (std::getline(lines, line))
    if (!line.empty() && line[0] == '#') comments += line + "\n";
  const std::string text = print_case(with_names_in(c, folder));
  const size_t first_line = text.find('\n') + 1;
  return text.substr(0, first_line) + comments + text.substr(first_line);
}

}  // namespace

void MinimizeCommand::declare(CLI::App& app) {
  app.add_option("CASE", path_, "Case text or finding folder")->required();
  package_.declare(app);
  app.add_option("--reduce-runs", reduce_runs_, "Most runs of candidates")->capture_default_str();
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
  app.add_option("--memory-mib", memory_mib_,
                 "Memory that cases may take beyond the loaded package, in MiB; 0 = no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_flag("--in-place", in_place_, "Write the smaller case back to its file instead of printing it");
}

int MinimizeCommand::run() {
  if (reduce_runs_ < 1)
    throw UsageError("not a number of runs", "--reduce-runs " + std::to_string(reduce_runs_), "give 1 or more");
  const CorpusEntry entry = read_one_case(path_);
  SessionRequest request = package_.request_for(entry);
  request.timeout = duration_option("--timeout", timeout_);
  request.memory_mib = memory_mib_;
  PackageSession session(std::move(request));
  say_if(session.torch_note());
  session.require_fitting(entry.input, entry.path);
  const TriageContext triage = session.triage();

  constexpr int kTries = 5;
  std::optional<Verdict> verdict;
  int reproduced = 0;
  for (int i = 0; i < kTries; ++i) {
    session.worker().renew();
    for (const Case& before : entry.before) session.worker().run(before);
    bool seen = false;
    for (Verdict& found : judge_result(triage, entry.input, session.worker().run(entry.input))) {
      if (found.status != VerdictStatus::kFail || (entry.expectation && !matches(*entry.expectation, found))) continue;
      if (verdict && finding_key(*verdict) != finding_key(found)) continue;
      verdict = std::move(found);
      seen = true;
      break;
    }
    reproduced += seen;
  }
  if (!verdict) {
    say("{}: does not fail{} in {} runs: nothing to minimize\n", entry.name, entry.expectation ? " as expected" : "",
        kTries);
    return kExitWorld;
  }
  if (!entry.before.empty()) {
    say("{}: fails only after another case in the same process, so its own fields say little: left as it is\n",
        entry.name);
    return kExitNoFaults;
  }
  ReducerOptions options;
  options.runs_max = reduce_runs_;
  options.time_max = std::chrono::hours(1);
  options.attempts = reproduced < kTries ? 3 : 1;
  const auto reduced = reduce_confirmed(triage, session.worker(), entry.input, *verdict, options, kTries);
  if (!reduced) {
    say("{}: fails {} of {} times, but nothing smaller holds in a fresh process: left as it is\n", entry.name,
        reproduced, kTries);
    return kExitNoFaults;
  }
  const Reduction& reduction = reduced->reduction;
  const bool smaller = !(reduction.minimal == entry.input);
  const char* what = reduction.one_minimal
                         ? (smaller ? "smaller, now 1-minimal" : "1-minimal")
                         : (smaller ? "smaller, stopped at the limit" : "no smaller within the limit");
  say("{}: {}, {} runs\n  {}\n  comes {} of {} times in fresh processes\n", entry.name, what, reduced->runs,
      finding_key(*verdict), reduced->confirmation.reproduced, reduced->confirmation.tries);
  for (const std::string& line : reduction.certificate) say("  {}\n", line);
  const std::string text = with_comments_of(read_file(entry.path), reduction.minimal,
                                            std::filesystem::path(entry.path).parent_path().string());
  if (!in_place_)
    fmt::print("{}", text);
  else if (smaller)
    write_file_whole(entry.path, text);
  return kExitNoFaults;
}

}  // namespace aotifuzz
