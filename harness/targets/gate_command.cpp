#include "targets/gate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "campaign/torch_builds.h"
#include "core/error.h"
#include "gate_report/calls_text.h"
#include "gate_report/gate_comparison.h"
#include "gate_report/gate_text.h"
#include "store/atomic_file.h"
#include "store/result_file.h"
#include "targets/command_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

/// dlopen() looks for a name without a slash in the system's folders.
std::string as_path(const std::string& library) {
  if (!std::filesystem::exists(library)) throw HarnessError("the library does not exist", library, "check the path");
  return std::filesystem::absolute(library).string();
}

/// What --load names may also be one that the system finds: libpython3.11.so.
std::string as_path_or_name(const std::string& library) {
  return library.find('/') == std::string::npos && !std::filesystem::exists(library) ? library : as_path(library);
}

/// Each has a context of its own, which takes half a GiB of the device's memory.
constexpr int kJobsOfDevice = 4;

/// "cpu", "cuda", "cuda:1".
bool is_device(const std::string& name) {
  if (name == "cpu" || name == "cuda") return true;
  const std::string index = name.starts_with("cuda:") ? name.substr(5) : "";
  return !index.empty() && index.size() <= 3 && index.find_first_not_of("0123456789") == std::string::npos;
}

void show_progress(int done, int of) { say("\r{} of {} operators", done, of); }

GateRun run_on(const GateRequest& request) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  GateRun run = run_gate_worker(request, terminal ? show_progress : nullptr);
  if (terminal) say("\r\x1b[K");
  return run;
}

}  // namespace

void GateCommand::declare(CLI::App& app) {
  app.add_option("--ops", ops_, "Library that registers the operators; may be left out with --fakes");
  app.add_option("--load", load_, "Library that it needs, loaded first and not judged (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--spec", spec_, "What is known of the operators' arguments, a line each; `--init-spec` writes one");
  app.add_option("--from", from_,
                 "Package whose exported program calls the operators: judge them with the arguments of its calls; a "
                 "line of --spec comes first (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--only", only_, "Operator to judge, ns::name or ns::name.overload (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--base", base_,
                 "The library before the change: say what the change does, exit 1 only on what it made worse");
  app.add_flag("--all", all_, "With --base: also list faults that were there before");
  app.add_option("--fakes", fakes_,
                 "Python module, or file, that registers fakes or defines operators: judge those too (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--python", python_,
                 "Python that runs them (default: the one of the worker's torch, else python3); without --fakes: judge "
                 "the fakes in modules that the library names");
  app.add_flag("--init-spec", init_spec_, "Write a spec drawn from the schemas to stdout, and judge nothing");
  app.add_option("--torch", torch_,
                 "Version of torch that the library was built against, of those that a worker was built for; doctor "
                 "lists them (default: the one of the worker beside aotifuzz)");
  app.add_option("--device", device_, "Whose kernels are judged: cpu or cuda:N")->capture_default_str();
  app.add_option("--timeout", timeout_, "Time limit of one call")->capture_default_str();
  app.add_option("--jobs", jobs_, "Operators judged at once (default: one a CPU, and of a GPU 4 at most)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--json", json_path_, "File for the result as JSON; - for stdout, in place of the text");
  app.add_option("--junit", junit_path_, "File for the result as JUnit XML");
  app.add_option("--sarif", sarif_path_, "File for the result as SARIF");
  app.add_flag("--github", github_, "Print annotations for GitHub's workflows as well; to stderr with --json -");
}

void GateCommand::read_calls() {
  size_t said = 0;
  std::string unsaid;
  for (const std::string& package : from_) {
    programs_.push_back(calls_of(read_package({.path = package, .model = "", .reference = ""})));
    for (const ProgramCall& call : programs_.back().calls) {
      said += !call.line.empty();
      if (unsaid.empty() && call.line.empty()) unsaid = call.op + " (" + call.node + "): " + call.why_not;
    }
  }
  if (said > 0) {
    scratch_.emplace("aotifuzz-gate");
    return write_file_whole(scratch_->file("calls.spec"), calls_spec(programs_));
  }
  throw HarnessError(unsaid.empty() ? "the program calls no custom operator"
                                    : "no call of the program can be said in a spec: " + unsaid,
                     from_.front(),
                     "give a package of a program that calls operators of the library, or leave out --from");
}

GateRequest GateCommand::request() {
  GateRequest out;
  if (!torch_.empty()) out.worker_folder = choose_torch(installed_torch_builds(), "", torch_).build.folder;
  if (!ops_.empty()) out.ops = as_path(ops_);
  out.use_python = !fakes_.empty() || !python_.empty();
  out.python = python_;
  out.fakes = fakes_;
  for (const std::string& library : load_) out.load.push_back(as_path_or_name(library));
  if (!spec_.empty()) out.spec = spec_;
  if (!from_.empty()) {
    read_calls();
    out.calls = scratch_->file("calls.spec");
  }
  out.only = only_;
  out.step_timeout = duration_option("--timeout", timeout_);
  out.device = device_;
  out.jobs = jobs_;
  if (jobs_ == 0) out.jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (jobs_ == 0 && device_ != "cpu") out.jobs = std::min(out.jobs, kJobsOfDevice);
  return out;
}

std::string GateCommand::subject() const {
  std::string out = ops_;
  for (const std::string& module : fakes_)
    if (ops_.empty()) out += (out.empty() ? "" : " ") + module;
  return out;
}

int GateCommand::init_spec() {
  GateRequest asked = request();
  asked.init_spec = true;
  const GateRun run = run_on(asked);
  fmt::print("# {} operators of {}. Edit the sizes that belong together, then pass this file with --spec.\n",
             run.operators.size(), std::filesystem::path(subject()).filename().string());
  for (const GateOperator& op : run.operators) {
    if (!op.schema.empty()) fmt::print("# {}\n", op.schema);
    fmt::print("{}\n", op.arguments);
  }
  const std::string calls = calls_text(programs_, judge_operators(run.operators, run.library.path));
  for (size_t at = 0; at < calls.size(); at = calls.find('\n', at) + 1)
    fmt::print("# {}\n", calls.substr(at, calls.find('\n', at) - at));
  return kExitNoFaults;
}

void GateCommand::write_reports(const std::vector<OperatorVerdict>& verdicts, const std::string& json) const {
  if (!json_path_.empty() && json_path_ != "-") write_result_file(json_path_, json);
  if (junit_path_.empty() && sarif_path_.empty() && !github_) return;
  const CiReport report = gate_ci_report(subject(), verdicts, AOTIFUZZ_VERSION);
  if (!junit_path_.empty()) write_result_file(junit_path_, junit_xml(report));
  if (!sarif_path_.empty()) write_result_file(sarif_path_, sarif_json(report));
  if (github_) fmt::print(json_path_ == "-" ? stderr : stdout, "{}", github_annotations(report));
}

int GateCommand::judge() {
  GateRun run = run_on(request());
  const auto verdicts = judge_operators(std::move(run.operators), run.library.path);
  const bool faults = std::any_of(verdicts.begin(), verdicts.end(),
                                  [](const OperatorVerdict& v) { return v.status == GateStatus::kFaults; });
  // A module that was named and does not even import must not leave CI green.
  const bool blind = !fakes_.empty() && std::all_of(verdicts.begin(), verdicts.end(), [](const OperatorVerdict& v) {
    return v.status == GateStatus::kNotJudged;
  });
  const int code = faults ? kExitFaults : blind ? kExitWorld : kExitNoFaults;
  const std::string json = gate_json(subject(), verdicts, code, programs_);
  fmt::print("{}", json_path_ == "-" ? json : gate_text(verdicts) + calls_text(programs_, verdicts));
  write_reports(verdicts, json);
  return code;
}

int GateCommand::compare() {
  GateRequest after = request(), before = after;
  before.ops = as_path(base_);
  const GateComparison comparison = compare_libraries(before, after);
  const int code = comparison.made_worse() ? kExitFaults : kExitNoFaults;
  const std::string json = comparison_json(base_, ops_, comparison, code);
  fmt::print("{}",
             json_path_ == "-" ? json : comparison_text(comparison, all_) + calls_text(programs_, comparison.verdicts));
  write_reports(all_ ? comparison.verdicts : comparison.worse_only(), json);
  return code;
}

int GateCommand::run() {
  if (ops_.empty() && (fakes_.empty() || !base_.empty()))
    throw UsageError("there is nothing to judge", "--ops",
                     base_.empty() ? "give the library that registers the operators, or a Python module with --fakes"
                                   : "give the library after the change");
  if (all_ && base_.empty())
    throw UsageError("nothing to compare with", "--all", "give the library before the change with --base");
  if (init_spec_ && !base_.empty()) throw UsageError("two things at once", "--init-spec --base", "leave one out");
  if (!is_device(device_)) throw UsageError("no such device", "--device " + device_, "give cpu or cuda:N");
  if (device_ != "cpu" && (!fakes_.empty() || !python_.empty()))
    throw UsageError("fakes in Python are called with tensors of the CPU", "--device " + device_ + " --fakes",
                     "leave out --fakes and --python to judge the kernels of CUDA, or --device to judge the fakes");
  std::vector<std::string> kept = load_;
  kept.insert(kept.end(), {ops_, base_, spec_});
  kept.insert(kept.end(), from_.begin(), from_.end());
  require_result_files(
      {{"--json", json_path_ == "-" ? "" : json_path_}, {"--junit", junit_path_}, {"--sarif", sarif_path_}}, kept);
  if (init_spec_) return init_spec();
  return base_.empty() ? judge() : compare();
}

}  // namespace aotifuzz
