#include "targets/replay_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "campaign/ci_items.h"
#include "campaign/matrix_run.h"
#include "campaign/replay.h"
#include "campaign/torch_builds.h"
#include "store/finding_folder.h"
#include "store/result_file.h"
#include "targets/command_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

using Status = ReplayResult::Status;

constexpr std::string_view kNotRun = "not run";

/// What the replays come to.
struct Tally {
  int failing = 0, known = 0, good = 0, not_judged = 0, not_run = 0, surprises = 0;
  std::map<std::string_view, int> by_status;

  void add(const ReplayResult& result, bool fail_on_gaps, bool excused) {
    ++by_status[replay_status_name(result.status)];
    if (result.fails_now() && excused)
      ++known;
    else if (result.fails_now() && (result.fault || fail_on_gaps))
      ++failing;
    else if (result.status == Status::kNotJudged)
      ++not_judged;
    else
      ++good;
    if (is_surprise(result)) ++surprises;
  }
  void add_not_run() {
    ++not_run;
    ++by_status[kNotRun];
  }
  int exit_code(bool expect_failing) const {
    const bool blind = not_run > 0 || (not_judged > 0 && !expect_failing);
    const bool bad = expect_failing ? surprises > 0 : failing > 0;
    return bad ? kExitFaults : blind ? kExitWorld : kExitNoFaults;
  }
  std::string counts() const {
    std::string out;
    for (const auto& [status, count] : by_status) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, status);
    return out;
  }
};

std::string indented(std::string_view text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

/// Keeps the last package loaded: entries of one corpus come grouped.
class Sessions {
 public:
  PackageSession& open(SessionRequest request) {
    auto key = std::make_tuple(request.package.path, request.package.model, request.package.reference, request.ops);
    if (!session_ || key != key_) {
      session_.reset();
      session_ = std::make_unique<PackageSession>(std::move(request));
      say_if(session_->torch_note());
      key_ = std::move(key);
    }
    return *session_;
  }

 private:
  std::unique_ptr<PackageSession> session_;
  std::tuple<std::string, std::string, std::string, std::vector<std::string>> key_;
};

nlohmann::ordered_json entry_json(const CorpusEntry& entry, const ReplayResult& result, const std::string& excuse) {
  return {{"case", entry.path},
          {"status", replay_status_name(result.status)},
          {"section", result.fault ? "fault" : "gap"},
          {"reproduced", result.reproduced},
          {"tries", result.tries},
          {"fails", result.fails},
          {"excuse", excuse},
          {"expected", entry.expectation ? entry.expectation->signature : ""}};
}

/// The cases that known issues name, each on the package that it or the command line says.
void check_known(const std::vector<KnownIssue>& issues,
                 const std::function<SessionRequest(const CorpusEntry&)>& request, int times, Sessions& sessions,
                 std::vector<KnownCase>* out) {
  for (const KnownIssue& issue : issues)
    for (const std::string& path : issue.cases) {
      try {
        for (const std::string& file : find_cases(path)) {
          const CorpusEntry entry = read_entry(file);
          out->push_back(check_known_case(issue, entry, sessions.open(request(entry)), times));
        }
      } catch (const HarnessError& error) {
        const std::string why = error.what();
        out->push_back({issue.link, path, KnownCase::Status::kUnreadable, why.substr(0, why.find('\n'))});
      }
    }
}

}  // namespace

void ReplayCommand::declare(CLI::App& app) {
  app.add_option(
         "CASE", path_,
         "Case text, finding folder, or a folder tree of those (case.txt, with finding.json or expect.json beside it)")
      ->required();
  package_.declare(app);
  app.add_option("--times", times_, "Runs of each case, each in a fresh process")->capture_default_str();
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
  app.add_option("--pack-timeout", pack_timeout_, "With several versions: time limit of packing one model")
      ->capture_default_str();
  app.add_option("--memory-mib", memory_mib_,
                 "Memory that cases may take beyond the loaded package, in MiB; 0 = no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--fail-on", fail_on_, "faults, or gaps to fail on gaps too (default: faults)");
  app.add_flag("--expect-failing", expect_failing_,
               "For a corpus of known failures: exit 1 when one is fixed or changed");
  app.add_flag("--json", json_, "Result as JSON on stdout");
  app.add_option("--html", html_, "With several versions: also write the matrix to this file as a page");
  ci_.declare(app);
  excuses_.declare(app, /*with_baseline=*/false);
}

int ReplayCommand::run_versions() {
  if (!excuses_.known.empty())
    throw UsageError("known issues are for one version", "--known " + excuses_.known, "give one version to --torch");
  const bool fail_on_gaps = fail_on_gaps_option(fail_on_);
  const auto timeout = duration_option("--timeout", timeout_);
  const auto pack_limit = std::chrono::ceil<std::chrono::seconds>(duration_option("--pack-timeout", pack_timeout_));
  MatrixRequest request;
  request.cases = find_cases(path_);
  request.builds = matrix_builds(package_.torch(), installed_torch_builds());
  request.packages = package_.packages();
  request.times = times_;
  request.pack_limit = pack_limit;
  request.session = [&](const CorpusEntry& entry, const std::string& package, const std::string& torch) {
    SessionRequest session = package_.request_for(entry, package, torch);
    session.timeout = timeout;
    session.memory_mib = memory_mib_;
    return session;
  };
  std::vector<std::string> kept = request.cases;
  for (const std::string& path : request.cases)
    for (const char* beside : {"expect.json", "finding.json"})
      kept.push_back((std::filesystem::path(path).parent_path() / beside).string());
  for (const std::string& package : request.packages) kept.push_back(package.substr(package.find('=') + 1));
  kept.push_back(path_);
  ci_.check(kept, {{"--html", html_}});
  std::string options = "--torch " + shell_word(package_.torch());
  for (const std::string& package : request.packages) options += " --package " + shell_word(package);
  VersionMatrix matrix = run_matrix(std::move(request));
  matrix.options = std::move(options);
  const int exit_code = matrix_exit_code(matrix, expect_failing_, fail_on_gaps);
  fmt::print("{}", json_ ? matrix_json(matrix, exit_code) : print_matrix(matrix));
  if (!html_.empty()) write_result_file(html_, matrix_html(matrix));
  CiReport ci;
  ci.items = matrix_items(matrix, expect_failing_, fail_on_gaps);
  ci_.write(std::move(ci), json_);
  return exit_code;
}

int ReplayCommand::run() {
  if (times_ < 1) throw UsageError("not a number of runs", "--times " + std::to_string(times_), "give 1 or more");
  if (package_.torch().find(',') != std::string::npos) return run_versions();
  if (!html_.empty())
    throw UsageError("a matrix needs several versions", "--html " + html_,
                     "give them as --torch A,B, or leave --html out");
  const bool fail_on_gaps = fail_on_gaps_option(fail_on_);
  const auto timeout = duration_option("--timeout", timeout_);
  const auto request_for = [&](const CorpusEntry& entry) {
    SessionRequest request = package_.request_for(entry);
    request.timeout = timeout;
    request.memory_mib = memory_mib_;
    return request;
  };
  const std::vector<std::string> cases = find_cases(path_);
  std::vector<std::string> kept = cases;
  kept.insert(kept.end(), {path_, excuses_.known});
  ci_.check(kept);
  Sessions sessions;
  Tally tally;
  CiReport ci;
  const Excuses excuses(excuses_.known, "");
  std::vector<KnownCase> known_cases;
  auto list = nlohmann::ordered_json::array();
  for (const std::string& path : cases) {
    try {
      const CorpusEntry entry = read_entry(path);
      PackageSession& session = sessions.open(request_for(entry));
      session.require_fitting(entry.input, entry.path);
      const ReplayResult result = replay(session.triage(), session.worker(), entry, times_, session.compiler_version());
      const std::string excuse = result.fails_now() ? excuses.of(entry, result) : "";
      tally.add(result, fail_on_gaps, !excuse.empty());
      ci.items.push_back(replay_item(entry, result, path_, {fail_on_gaps, expect_failing_}));
      ci.items.back().excuse = excuse;
      if (auto fixed = known_but_fixed(excuses.issues(), entry, result)) known_cases.push_back(std::move(*fixed));
      if (json_)
        list.push_back(entry_json(entry, result, excuse));
      else
        fmt::print("{}{}", print_replay(entry, result), excuse.empty() ? "" : "  " + excuse + "\n");
    } catch (const HarnessError& error) {
      // One bad file must not hide what the others have to say.
      if (cases.size() == 1) throw;
      tally.add_not_run();
      ci.items.push_back(not_run_item(path, path_, error.what()));
      if (json_)
        list.push_back({{"case", path}, {"status", kNotRun}, {"error", error.what()}});
      else
        fmt::print("{}: {}\n{}\n", path, kNotRun, indented(error.what()));
    }
    std::fflush(stdout);
  }
  check_known(excuses.issues(), request_for, times_, sessions, &known_cases);
  for (const KnownCase& known : known_cases) ci.items.push_back(known_case_item(known, path_, excuses_.strict));
  int exit_code = tally.exit_code(expect_failing_);
  if (excuses_.strict) exit_code = strict_exit_code(known_cases, exit_code);
  if (json_) {
    auto known_list = nlohmann::ordered_json::array();
    for (const KnownCase& known : known_cases)
      known_list.push_back({{"issue", known.link},
                            {"case", known.path},
                            {"status", known_case_status_name(known.status)},
                            {"note", known.note}});
    const nlohmann::ordered_json root = {{"cases", std::move(list)},
                                         {"failing", tally.failing},
                                         {"known", tally.known},
                                         {"good", tally.good},
                                         {"not_judged", tally.not_judged},
                                         {"not_run", tally.not_run},
                                         {"known_cases", std::move(known_list)},
                                         {"exit_code", exit_code}};
    fmt::print("{}\n", root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (cases.size() > 1) {
    fmt::print("{} cases: {}; {} count as failing ({})\n", cases.size(), tally.counts(), tally.failing,
               fail_on_gaps ? "faults and gaps" : "faults");
  }
  if (!json_) fmt::print("{}", print_known_cases(known_cases));
  ci_.write(std::move(ci), json_);
  return exit_code;
}

}  // namespace aotifuzz
