#include "targets/trace_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "campaign/package_session.h"
#include "campaign/trace_report.h"
#include "generators/catalog.h"
#include "generators/seed_cases.h"
#include "package/contract_bounds.h"
#include "store/corpus_folder.h"
#include "store/result_file.h"
#include "store/trace_json.h"
#include "targets/command_options.h"
#include "targets/package_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

constexpr int64_t kElementsMax = 1 << 20;  // as `fuzz` has it

/// Without a case of the user's: the first of the contract's own with an element in every input.
Case example_case(const Contract& contract) {
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  for (Case& c : seed_cases(*make_case_model(contract, bounds))) {
    const bool full = std::all_of(c.inputs.begin(), c.inputs.end(), [](const CaseInput& input) {
      return std::find(input.sizes.begin(), input.sizes.end(), 0) == input.sizes.end();
    });
    if (!full || !violations(contract, c).empty()) continue;
    return c;
  }
  throw HarnessError("no input that the contract allows was found", "the package",
                     "give a case text after the package");
}

}  // namespace

void TraceCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 to look into")->required();
  app.add_option("CASE", case_, "Case text or finding folder (default: the first input that the contract allows)");
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--kernels", kernels_, "Only kernels with one of these in their names, separated by commas")
      ->delimiter(',');
  app.add_option(
         "--level", level_,
         "names: kernels and sizes; stats: also min, max, mean, NaN and errors; values: also the first elements")
      ->check(CLI::IsMember({"names", "stats", "values"}))
      ->capture_default_str();
  app.add_option("--save", save_, "Folder to save every tensor to, as .npy");
  CLI::Option* nan = app.add_flag("--nan", nan_, "Only say where NaN comes from");
  app.add_option("--upstream", upstream_, "Only this kernel and the calls that its inputs come from");
  declare_torch(app, &torch_);
  app.add_option("--timeout", timeout_, "Time limit of the run")->capture_default_str();
  app.add_flag("--json", json_, "As JSON on stdout")->excludes(nan);
}

int TraceCommand::run() {
  SessionRequest request;
  request.package = {.path = package_, .model = model_, .reference = reference_};
  request.ops = ops_;
  request.torch = torch_;
  request.timeout = duration_option("--timeout", timeout_);
  const PackageInfo info = read_package(request.package);
  WorkerOptions options;
  const WorkerChoice choice = choose_worker(request, info);
  say_if(choice.note);
  options.program = choice.program;
  options.arguments = worker_arguments(request, info);
  options.case_timeout = request.timeout;
  options.arguments.trace = trace_level_from_name(level_);
  options.arguments.trace_kernels = kernels_;
  if (!save_.empty()) {
    std::error_code none;
    require_result_folder({"--save", save_});
    if (std::filesystem::is_directory(save_, none) && !std::filesystem::is_empty(save_, none))
      throw UsageError("the folder holds something, which the trace would overwrite or mix with", "--save " + save_,
                       "give a new or empty folder");
    std::filesystem::create_directories(save_);
    options.arguments.save = std::filesystem::absolute(save_).string();
  }
  const Case input = case_.empty() ? example_case(info.contract) : read_one_case(case_).input;
  if (input.inputs.size() - input.surplus_inputs() != info.contract.inputs.size())
    throw HarnessError("the case is not one for this package: it has " + std::to_string(input.inputs.size()) +
                           " inputs, the package takes " + std::to_string(info.contract.inputs.size()),
                       case_, "give a case of this package");
  if (!input.then.empty() || input.callers > 1 || input.constants != CaseConstants::kExported)
    say("the trace is of one call, with the weights as exported: further calls, callers and other weights of the case "
        "are left out\n");
  WorkerProcess worker(options);
  const CaseResult result = worker.run(input);
  if (!result.report) {
    const WorkerDeath& death = *result.death;
    throw HarnessError(
        "the package ended its process" + (death.step.empty() ? "" : " in " + death.step),
        case_.empty() ? package_ : case_,
        "a trace ends with the run: `aotifuzz replay` says what the process died of, and names the kernel");
  }
  std::vector<TraceCall> trace = result.report->trace;
  if (!result.report->runs.empty() && result.report->runs[0].outcome.kind != OutcomeKind::kFinished)
    say("the package did not finish: {}\n", result.report->runs[0].outcome.message);
  if (trace.empty() && !kernels_.empty())
    throw UsageError("no kernel of that name ran", "--kernels " + kernels_.front(), "see the trace without it");
  if (trace.empty()) say("no kernel of the package was seen\n");
  if (!upstream_.empty()) {
    trace = upstream(trace, upstream_);
    if (trace.empty())
      throw UsageError("no kernel of that name ran", "--upstream " + upstream_, "see the trace without it");
  }
  if (nan_) {
    fmt::print("{}\n", first_nan(trace));
  } else if (json_) {
    fmt::print("{}\n", trace_json(trace).dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_trace(trace, std::cout);
    std::cout.flush();
  }
  return kExitNoFaults;
}

}  // namespace aotifuzz
