#include "targets/explain_command.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <vector>

#include "campaign/explain_case.h"
#include "campaign/explain_finding.h"
#include "package/error_context.h"
#include "package/trace_context.h"
#include "store/atomic_file.h"
#include "store/explanation_text.h"
#include "targets/command_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

constexpr size_t kLogMax = 64 << 20;

/// The last kLogMax bytes that `from` still holds. What stands before them is read and dropped as it comes: a pipe may
/// bring more than there is memory.
std::string read_tail(std::istream& from, bool* cut) {
  std::string text;
  std::vector<char> chunk(1 << 20);
  while (from.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || from.gcount() > 0) {
    text.append(chunk.data(), static_cast<size_t>(from.gcount()));
    if (text.size() < 2 * kLogMax) continue;  // not at each chunk: the rest is moved to the front
    text.erase(0, text.size() - kLogMax);
    *cut = true;
  }
  if (text.size() > kLogMax) {
    text.erase(0, text.size() - kLogMax);
    *cut = true;
  }
  return text;
}

std::string read_log(const std::string& file) {
  bool cut = false;
  std::string text;
  if (file == "-") {
    text = read_tail(std::cin, &cut);
  } else {
    std::ifstream in(file, std::ios::binary);
    if (!in)
      throw HarnessError("cannot read the log", file,
                         "give a readable file, a finding's folder, or - for standard input");
    std::error_code none;
    const uintmax_t size = std::filesystem::is_regular_file(file, none) ? std::filesystem::file_size(file, none) : 0;
    if (!none && size > kLogMax) {
      in.seekg(static_cast<std::streamoff>(size - kLogMax));
      cut = true;
    }
    text = read_tail(in, &cut);
  }
  // Errors stand at the end of a log.
  if (cut) say("{}: only its last {} MiB are read, and lines are counted from there\n", file, kLogMax >> 20);
  return text;
}

}  // namespace

void ExplainCommand::declare(CLI::App& app) {
  app.add_option("FILE", file_,
                 "Log or error text, - for standard input, or a finding's folder (default: standard input, unless "
                 "--case is given)");
  app.add_option("--case", case_, "Case text or finding folder: the debugging guide's steps are done on it");
  package_.declare(app);
  app.add_option("--trace", trace_,
                 "Folder that TORCH_TRACE named when the package was compiled, or that tlparse wrote of it: guards and "
                 "kernels get their lines in the model; without a package: of the last export in it")
      ->check(not_empty());
  app.add_option("--timeout", timeout_, "Time limit of one run of the case")->capture_default_str();
  app.add_option("--reduce-runs", reduce_runs_, "Most runs for the smallest input; 0 = do not look for it")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_flag("--json", json_, "As JSON on stdout");
}

int ExplainCommand::run() {
  const bool folder = !file_.empty() && file_ != "-" && std::filesystem::is_directory(file_);
  if (folder && !case_.empty())
    throw UsageError("a finding's folder and a case", "--case " + case_, "give one of them");
  if (folder) case_ = file_;
  if (package_.packages().size() > 1)
    throw UsageError("more than one package", "--package " + package_.packages()[1], "give one");
  ExplainReport report;
  std::string log;
  if (!folder && (!file_.empty() || case_.empty())) log = read_log(file_.empty() ? "-" : file_);
  const std::vector<RecognisedError> errors = recognise_errors(log);

  ExplainPaths paths{package_.packages().empty() ? "" : package_.packages().front(), case_};
  std::optional<CorpusEntry> entry;
  if (!case_.empty()) entry = read_one_case(case_);
  SessionRequest request;
  if (entry)
    request = package_.request_for(*entry);
  else if (!paths.package.empty())
    request = package_.request_for(CorpusEntry{}, paths.package, package_.torch());
  paths.package = request.package.path;

  if (folder && std::filesystem::exists(file_ + "/finding.json")) {
    const Result<FindingRecord> record = parse_finding_record(read_file(file_ + "/finding.json"));
    if (!record)
      throw HarnessError("the finding cannot be read: " + record.error().what,
                         file_ + "/finding.json, " + record.error().where, "give a folder below OUT/findings");
    report.found.push_back(explain_finding(*record, paths));
    report.fault = record->verdict.fault;
  }

  std::optional<PackageInfo> info;
  std::string unreadable;
  if (!paths.package.empty()) {
    request.package.kernels = true;
    try {
      info = read_package(request.package);
    } catch (const HarnessError& error) {
      // What the log says is as true without the package.
      if (errors.empty()) throw;
      unreadable = error.what();
    }
  }
  std::optional<CompileTrace> trace;
  if (!trace_.empty() && unreadable.empty()) {
    try {
      trace = read_compile_trace(trace_, info ? *info : PackageInfo{});
      for (const std::string& note : trace->notes) report.notes.push_back("compile-time trace: " + note);
    } catch (const HarnessError& error) {
      // What the log says is as true without the trace.
      if (errors.empty()) throw;
      report.notes.push_back("the compile-time trace cannot be used: " + std::string(error.what()));
    }
  }
  for (const RecognisedError& error : errors) {
    report.found.push_back(explain_error(error, paths));
    if (info) add_package_facts(*info, error, &report.found.back());
    if (trace) add_trace_facts(*trace, info ? *info : PackageInfo{}, error, &report.found.back());
  }
  if (info && !entry)
    for (std::string& note : package_hazards(*info)) report.notes.push_back(std::move(note));
  if (!unreadable.empty()) {
    report.notes.push_back("the package cannot be read, so nothing is said of it: " + unreadable);
    if (entry) report.steps.push_back({"load", "the package cannot be read", false});
  } else if (entry) {
    request.timeout = duration_option("--timeout", timeout_);
    request.kernels_every = 1;
    request.without_weights_too = true;
    try {
      PackageSession session(request);
      say_if(session.torch_note());
      session.require_fitting(entry->input, entry->path);
      explain_case(session, *entry, {paths, reduce_runs_, trace ? &*trace : nullptr}, &report);
    } catch (const HarnessError& error) {
      // What keeps the package from being loaded is an error to explain, too.
      const std::vector<RecognisedError> at_load = recognise_errors(error.what());
      if (at_load.empty()) throw;
      for (const RecognisedError& one : at_load) {
        report.found.push_back(explain_error(one, paths));
        report.found.back().line = 0;
        add_package_facts(*info, one, &report.found.back());
        report.conclusion.push_back("the package cannot be run here: " + report.found.back().title);
        report.conclusion.push_back("to change: " + report.found.back().change);
      }
      report.steps.push_back({"load", error.what(), true});
    }
  }
  const bool nothing = report.found.empty() && report.conclusion.empty();
  if (nothing)
    report.notes.push_back(
        "nothing in the text is known here: run `aotifuzz explain --package PACKAGE --case CASE` on the input that "
        "failed, or `aotifuzz fuzz PACKAGE --for 10m` to find one; `aotifuzz doctor` says whether this installation is "
        "sound");
  if (json_)
    std::cout << explanations_json(report).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  else
    print_explanations(report, std::cout);
  std::cout.flush();
  if (nothing) return kExitWorld;
  return report.fault ? kExitFaults : kExitNoFaults;
}

}  // namespace aotifuzz
