#include "targets/sanitize_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "campaign/sanitizer.h"
#include "core/error.h"
#include "targets/command_options.h"
#include "targets/say.h"

namespace aotifuzz {

void SanitizeCommand::declare(CLI::App& app) {
  app.add_option("CASE", path_, "Case text or finding folder")->required();
  package_.declare(app);
  app.add_option("--tool", tool_, "What to look for")
      ->check(CLI::IsMember({"memcheck", "initcheck", "racecheck", "synccheck"}))
      ->capture_default_str();
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
  app.add_flag("--json", json_, "Result as JSON on stdout");
}

int SanitizeCommand::run() {
  const auto timeout = duration_option("--timeout", timeout_);
  const CorpusEntry entry = read_one_case(path_);
  const SessionRequest session = package_.request_for(entry);
  SanitizeRequest request;
  request.tool = tool_;
  request.timeout = timeout;
  request.input = entry.input;
  request.before = entry.before;
  const PackageInfo info = read_package(session.package);
  request.arguments = worker_arguments(session, info);
  if (request.arguments.device.empty())
    throw HarnessError(
        "the package runs on the CPU, of which compute-sanitizer sees nothing", request.arguments.package,
        "replay the case: CPU packages run against guard pages, and a stray access comes with its stack");
  const WorkerChoice choice = choose_worker(session, info);
  say_if(choice.note);
  request.program = choice.program;
  const SanitizeResult result = sanitize(request);
  const std::string folder = std::filesystem::absolute(entry.path).parent_path().string();
  const bool in_finding = std::filesystem::exists(folder + "/finding.json");
  if (in_finding) add_to_finding(folder, tool_, result);
  if (json_) {
    auto errors = nlohmann::ordered_json::array();
    for (const SanitizerError& error : result.log.errors) errors.push_back(describe(error));
    fmt::print("{}\n", nlohmann::ordered_json{{"tool", tool_},
                                              {"version", result.version},
                                              {"access", result.fault ? memory_fault_sentence(*result.fault) : ""},
                                              {"errors", errors}}
                           .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    if (result.fault) fmt::print("the package {}\n", memory_fault_sentence(*result.fault));
    for (const SanitizerError& error : result.log.errors) fmt::print("{}\n", describe(error));
    fmt::print("{} {}: {} distinct errors, {} in all{}\n", result.version, tool_, result.log.errors.size(),
               result.log.total, in_finding ? "; added to " + folder : "");
  }
  return result.log.errors.empty() ? kExitNoFaults : kExitFaults;
}

}  // namespace aotifuzz
