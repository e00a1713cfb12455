#include "targets/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "campaign/replay.h"
#include "campaign/saved_case.h"
#include "campaign/saved_tensors.h"
#include "campaign/scratch_folder.h"
#include "generators/rapidcheck_choices.h"
#include "generators/value_chooser.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "store/result_file.h"
#include "targets/command_options.h"
#include "targets/package_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

/// Values of the inputs of which only sizes are known: the plainest, or those that a seed draws.
void choose_missing_values(const Contract& contract, uint64_t seed, RunInputs* inputs) {
  Case drawn = inputs->input;
  set_plain_values(contract, drawn);
  if (seed != 0) {
    RapidCheckChoices choices(seed, 0);
    choose_values(choices, contract, drawn);
  }
  for (size_t i = 0; i < drawn.inputs.size(); ++i)
    if (!inputs->has_values[i]) inputs->input.inputs[i].values = drawn.inputs[i].values;
}

std::string input_line(const CaseInput& input, const std::string& source) {
  if (input.kind != CaseInput::Kind::kTensor) return input.name + (source.empty() ? "" : " (" + source + ")");
  std::string sizes;
  for (const int64_t size : input.sizes) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  return fmt::format("{} {}[{}]{} ({})", input.name, dtype_name(input.dtype), sizes, input.strides ? ", strided" : "",
                     source);
}

nlohmann::ordered_json inputs_json(const Case& c, const std::vector<std::string>& sources) {
  auto out = nlohmann::ordered_json::array();
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    nlohmann::ordered_json one = {{"name", input.name}, {"from", sources[i]}};
    if (input.kind == CaseInput::Kind::kTensor) {
      one["dtype"] = dtype_name(input.dtype);
      one["sizes"] = input.sizes;
      if (input.strides) one["strides"] = *input.strides;
    } else if (const int64_t* whole = std::get_if<int64_t>(&input.scalar)) {
      one["value"] = *whole;
    } else {
      one["value"] = std::get<double>(input.scalar);
    }
    out.push_back(std::move(one));
  }
  return out;
}

nlohmann::ordered_json as_json(nlohmann::ordered_json inputs, const ModesResult& result, const ReplayResult& judged,
                               const std::string& saved, int exit_code) {
  nlohmann::ordered_json modes = nlohmann::ordered_json::object();
  for (const RunMode& mode : result.modes) modes[mode.name] = mode.text;
  auto verdicts = nlohmann::ordered_json::array();
  for (const Verdict& verdict : result.verdicts)
    verdicts.push_back({{"oracle", verdict.oracle},
                        {"status", verdict_status_name(verdict.status)},
                        {"section", verdict.status == VerdictStatus::kFail ? (verdict.fault ? "fault" : "gap") : ""},
                        {"class", verdict.cls ? verdict_class_name(*verdict.cls) : ""},
                        {"signature", verdict.signature},
                        {"reason", verdict.reason}});
  return {{"inputs", std::move(inputs)},
          {"modes", std::move(modes)},
          {"fails", judged.fails},
          {"verdicts", std::move(verdicts)},
          {"saved", saved},
          {"exit_code", exit_code}};
}

}  // namespace

void RunCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 or the library of aot_compile to run")->required();
  app.add_option("INPUTS", inputs_,
                 "FILE or NAME=FILE (.npy, .npz, .safetensors, or what torch.save wrote), NAME=3x5 for sizes, "
                 "SYMBOL=7 for one size, NAME=7 for a number");
  app.add_option("--seed", seed_, "Values of inputs of which only sizes are given; 0 = the plainest")
      ->check(CLI::Range(0.0, 9e18))
      ->capture_default_str();
  app.add_flag("--anyway", anyway_, "Also run inputs that lie outside of what the package declares");
  app.add_option("--save-case", save_case_,
                 "Write the inputs as a case: FILE.txt, or a folder that fuzz, minimize and replay take")
      ->check(not_empty());
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--device", device_, "Where to run: cuda:N (default: the package's device, its first GPU)");
  declare_torch(app, &torch_);
  app.add_option("--timeout", timeout_, "Time limit of one run")->capture_default_str();
  app.add_option("--memory-mib", memory_mib_,
                 "Memory that the run may take beyond the loaded package, in MiB; 0 = no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--fail-on", fail_on_, "gaps: exit 1 on whatever is found; faults: on faults only")
      ->capture_default_str();
  app.add_flag("--json", json_, "Result as JSON on stdout");
}

RunInputs RunCommand::read_inputs(PackageSession& session) const {
  return make_run_inputs(session.contract(), inputs_, [&](const std::string& path) {
    if (!is_torch_save(path)) return read_tensor_file(path);
    session.hello();  // whoever cannot start a worker is told why
    return read_saved_tensors(path, session.worker_program());
  });
}

void RunCommand::require_allowed(const PackageSession& session, const Case& c) const {
  const std::vector<Violation> broken = violations(session.contract(), c);
  if (broken.empty()) return;
  std::string list;
  for (const Violation& violation : broken)
    list += "\n    " + violation.text + (violation.detail.empty() ? "" : ": " + violation.detail);
  if (anyway_) return say("outside of what the package declares:{}\n", list);
  throw HarnessError("the inputs are outside of what the package declares:" + list, package_,
                     "correct the inputs; with --anyway the package is run on them all the same");
}

std::string RunCommand::save_case(const CorpusEntry& entry, const ModesResult& result) const {
  const Verdict* leading = nullptr;
  for (const Verdict& verdict : result.verdicts)
    if (verdict.status == VerdictStatus::kFail && (!leading || finding_rank(verdict) < finding_rank(*leading)))
      leading = &verdict;
  SavedCaseContext context;
  context.package = std::filesystem::absolute(package_).lexically_normal().string();
  context.model = model_;
  context.reference = reference_.empty() ? "" : std::filesystem::absolute(reference_).lexically_normal().string();
  for (const std::string& library : ops_) context.ops.push_back(std::filesystem::absolute(library).string());
  return write_saved_case(save_case_, entry.input, leading, context);
}

int RunCommand::run() {
  const bool fail_on_gaps = fail_on_gaps_option(fail_on_);
  if (save_case_.ends_with(".txt"))
    require_result_files({{"--save-case", save_case_}}, {package_, reference_}, /*any_text=*/true);
  else
    require_result_folder({"--save-case", save_case_});
  SessionRequest request;
  request.package = {.path = package_, .model = model_, .reference = reference_};
  request.ops = ops_;
  request.device = device_;
  request.torch = torch_;
  request.timeout = duration_option("--timeout", timeout_);
  request.memory_mib = memory_mib_;
  PackageSession session(std::move(request));
  say_if(session.torch_note());
  RunInputs inputs = read_inputs(session);
  choose_missing_values(session.contract(), seed_, &inputs);
  require_allowed(session, inputs.input);

  if (const auto sound = parse_case(print_case(inputs.input)); !sound)
    throw UsageError("the inputs cannot be run: " + sound.error().what, sound.error().where, "give smaller ones");

  // The worker reads values from files of its own: they are what a case of this run would have beside it.
  const ScratchFolder scratch("aotifuzz-run");
  CorpusEntry entry;
  entry.name = std::filesystem::path(package_).filename().string();
  entry.input = keep_case_files(inputs.input, scratch.path());
  load_case_files(entry.input, scratch.path());
  if (!json_)
    for (size_t i = 0; i < entry.input.inputs.size(); ++i)
      fmt::print("{}\n", input_line(entry.input.inputs[i], inputs.sources[i]));
  std::fflush(stdout);
  const ModesResult result = run_in_every_mode(session, entry.input);
  const ReplayResult judged = as_replay(result.verdicts, session.has_reference());
  if (!json_) fmt::print("\n{}\n{}", print_modes(result.modes), print_replay(entry, judged));
  std::fflush(stdout);
  const std::string saved = save_case_.empty() ? "" : save_case(entry, result);
  const bool found = std::any_of(result.verdicts.begin(), result.verdicts.end(), [&](const Verdict& verdict) {
    return verdict.status == VerdictStatus::kFail && (verdict.fault || fail_on_gaps);
  });
  const bool blind = judged.status == ReplayResult::Status::kNotJudged;
  const int exit_code = found ? kExitFaults : blind ? kExitWorld : kExitNoFaults;
  if (json_) {
    fmt::print("{}\n", as_json(inputs_json(entry.input, inputs.sources), result, judged, saved, exit_code)
                           .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return exit_code;
  }
  if (!saved.empty()) fmt::print("saved: {}\n", saved);
  return exit_code;
}

}  // namespace aotifuzz
