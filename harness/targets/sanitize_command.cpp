#include "targets/sanitize_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "campaign/package_session.h"
#include "campaign/sanitizer.h"
#include "core/error.h"
#include "store/corpus_folder.h"
#include "targets/command_options.h"

namespace aotifuzz {

void SanitizeCommand::declare(CLI::App& app) {
  app.add_option("CASE", path_, "Case text or finding folder")->required();
  app.add_option("--package", package_,
                 "Package to run on; default: the one that the finding or its model recipe names");
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--models", models_,
                 "Folder of packed models, for cases that name a recipe (default: AOTIFUZZ_MODELS)");
  app.add_option("--device", device_, "Where to run: cuda:N (default: the package's device, its first GPU)");
  app.add_option("--tool", tool_, "What to look for")
      ->check(CLI::IsMember({"memcheck", "initcheck", "racecheck", "synccheck"}))
      ->capture_default_str();
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
  app.add_flag("--json", json_, "Result as JSON on stdout");
}

int SanitizeCommand::run() {
  const auto timeout = duration_option("--timeout", timeout_);
  if (models_.empty()) {
    const char* models = std::getenv("AOTIFUZZ_MODELS");
    models_ = models ? models : "";
  }
  const std::vector<std::string> cases = find_cases(path_);
  if (cases.size() != 1) throw UsageError("more than one case", path_, "give one case text or one finding folder");
  const CorpusEntry entry = read_entry(cases.front());
  SanitizeRequest request;
  request.tool = tool_;
  request.timeout = timeout;
  request.input = entry.input;
  request.before = entry.before;
  request.arguments.package = package_of(entry, package_, models_);
  request.arguments.model = !model_.empty() || !entry.expectation ? model_ : entry.expectation->model;
  const std::vector<std::string>& ops = !ops_.empty() || !entry.expectation ? ops_ : entry.expectation->ops;
  for (const std::string& library : ops) request.arguments.ops.push_back(std::filesystem::absolute(library).string());
  const PackageInfo info = read_package({request.arguments.package, request.arguments.model, ""});
  request.arguments.device = choose_device(info, device_);
  if (request.arguments.device.empty())
    throw HarnessError(
        "the package runs on the CPU, of which compute-sanitizer sees nothing", request.arguments.package,
        "replay the case: CPU packages run against guard pages, and a stray access comes with its stack");
  const SanitizeResult result = sanitize(request);
  const std::string folder = std::filesystem::absolute(cases.front()).parent_path().string();
  const bool in_finding = std::filesystem::exists(folder + "/finding.json");
  if (in_finding) add_to_finding(folder, tool_, result);
  if (json_) {
    auto errors = nlohmann::ordered_json::array();
    for (const SanitizerError& error : result.log.errors) errors.push_back(describe(error));
    fmt::print("{}\n", nlohmann::ordered_json{{"tool", tool_}, {"version", result.version}, {"errors", errors}}.dump(
                           1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    for (const SanitizerError& error : result.log.errors) fmt::print("{}\n", describe(error));
    fmt::print("{} {}: {} distinct errors, {} in all{}\n", result.version, tool_, result.log.errors.size(),
               result.log.total, in_finding ? "; added to " + folder : "");
  }
  return result.log.errors.empty() ? kExitNoFaults : kExitFaults;
}

}  // namespace aotifuzz
