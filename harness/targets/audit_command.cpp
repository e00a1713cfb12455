#include "targets/audit_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "campaign/audit.h"
#include "campaign/package_session.h"
#include "generators/audit_call_probes.h"
#include "generators/audit_probes.h"
#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "generators/value_chooser.h"
#include "package/assumed_sizes.h"
#include "store/audit_text.h"
#include "store/result_file.h"
#include "targets/command_options.h"
#include "targets/package_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

constexpr int64_t kElementsMax = 1 << 20;  // as `fuzz` has it

/// As the driver shows it, without asking CUDA.
bool has_gpu() {
  std::error_code ignored;
  return std::filesystem::exists("/dev/nvidia0", ignored) || std::filesystem::exists("/dev/dxg", ignored);
}

/// A line that is overwritten, on a terminal.
void show(const AuditProgress& progress) {
  static auto last = std::chrono::steady_clock::time_point();
  const auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::milliseconds(200)) return;
  last = now;
  say("\r\x1b[K{:.0f} of {:.0f} s, {} runs, {:.60}", progress.seconds, progress.limit, progress.cases, progress.doing);
}

}  // namespace

void AuditCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 to audit")->required();
  app.add_option("--time", time_, "How long at most; what was left out is listed")->capture_default_str();
  app.add_option("--checks", checks_,
                 "off: unsafe is what harms a package that runs as torch runs it; on: what harms it with "
                 "AOTI_RUNTIME_CHECK_INPUTS=1")
      ->check(CLI::IsMember({"off", "on"}))
      ->capture_default_str();
  app.add_option("--fail-on", fail_on_, "unsafe: exit 1 when there is an unsafe line")
      ->check(CLI::IsMember({"unsafe"}));
  app.add_option("--out", out_, "Folder for the cases of unsafe lines (default: aotifuzz-audit/<package>)")
      ->check(not_empty());
  app.add_option(
         "--trace", trace_,
         "Folder that TORCH_TRACE named when the package was compiled, or that tlparse wrote of it: lines get the "
         "guard that they come of, and its line in the model")
      ->check(not_empty());
  app.add_option("--html", html_, "Also write the audit to this file as a page");
  app.add_flag("--json", json_, "As one JSON document on stdout");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--device", device_, "Where to run: cuda:N (default: the package's device, its first GPU)");
  declare_torch(app, &torch_);
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
}

int AuditCommand::run() {
  AuditOptions options;
  options.begun = std::chrono::steady_clock::now();
  options.time = duration_option("--time", time_);
  options.checks = checks_ == "on" ? ChecksMode::kOn : ChecksMode::kOff;
  options.elements_max = kElementsMax;
  options.out = out_.empty() ? "aotifuzz-audit/" + std::filesystem::path(package_).stem().string() : out_;
  if (!html_.empty()) require_result_files({{"--html", html_}}, {package_, reference_});
  require_result_folder({"--out", options.out});
  SessionRequest request;
  request.package = {.path = package_, .model = model_, .reference = reference_};
  request.ops = ops_;
  request.device = device_;
  request.torch = torch_;
  request.timeout = duration_option("--timeout", timeout_);
  request.kernels_every = 0;
  PackageSession session(std::move(request));
  say_if(session.torch_note());
  const ContractBounds bounds = compute_bounds(session.contract(), kElementsMax, assumption_targets(session.info()));
  std::optional<CompileTrace> trace;
  if (!trace_.empty()) trace = read_compile_trace(trace_, session.info());
  const CaseModel model(session.contract(), bounds);
  std::vector<Case> bases = audit_bases(model);
  std::vector<AuditProbe> probes = audit_probes(model);
  AuditCallProbes calls;
  if (!bases.empty()) calls = audit_call_probes(session.contract(), bases.front(), has_gpu());
  probes.insert(probes.begin(), calls.probes.begin(), calls.probes.end());
  const AuditSubjectMatter subject{session.info(),
                                   session.triage(),
                                   bounds,
                                   std::move(bases),
                                   std::move(probes),
                                   std::move(calls.untried),
                                   [&](Case& c) { set_plain_values(session.contract(), c); },
                                   session.finding_context(),
                                   std::filesystem::absolute(package_).lexically_normal().string(),
                                   model_,
                                   session.hello().torch_version,
                                   session.environment(),
                                   [&](Case& c) {
                                     RapidCheckChoices choices(/*seed=*/1, 0);
                                     choose_values(choices, session.contract(), c);
                                   },
                                   trace ? &*trace : nullptr};
  const bool terminal = !json_ && ::isatty(STDERR_FILENO);
  AuditReport report = audit(subject, session.worker(), options, terminal ? show : nullptr);
  if (terminal) say("\r\x1b[K");
  report.package = package_;
  if (trace) report.trace_notes = trace->notes;
  // What tried nothing must not look like what found nothing.
  const int code = report.judged == 0                                             ? kExitWorld
                   : fail_on_ == "unsafe" && report.count(AuditWord::kUnsafe) > 0 ? kExitFaults
                                                                                  : kExitNoFaults;
  if (report.cases == 0)
    say("nothing was tried within --time {}: this says nothing about the package\n", time_);
  else if (report.judged == 0)
    say("nobody could judge any of {} runs (reasons below): this says nothing about the package\n", report.cases);
  fmt::print("{}", json_ ? audit_json(report, code) + "\n" : print_audit(report));
  if (!html_.empty()) write_result_file(html_, audit_html(report));
  return code;
}

}  // namespace aotifuzz
