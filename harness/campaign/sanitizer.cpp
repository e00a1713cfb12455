#include "campaign/sanitizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "campaign/find_tool.h"
#include "campaign/scratch_folder.h"
#include "core/error.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

/// The tool writes its summary after the worker has ended.
constexpr std::chrono::milliseconds kEndTimeout{60'000};
constexpr const char* kSection = "\n## compute-sanitizer\n";

using Measures = std::vector<std::pair<std::string, std::string>>;

/// finding.json keeps measures as a list of pairs.
Measures measures_of(const nlohmann::ordered_json& finding) {
  Measures out;
  const auto listed = finding.find("measures");
  if (listed == finding.end() || !listed->is_array()) return out;
  for (const auto& pair : *listed)
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string())
      out.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  return out;
}

}  // namespace

SanitizeResult sanitize(const SanitizeRequest& request) {
  const auto program = find_tool("compute-sanitizer");
  if (!program)
    throw HarnessError("compute-sanitizer is not here", "PATH, /usr/local/cuda/bin",
                       "install the CUDA Toolkit (package cuda-sanitizer), or add its bin folder to PATH");
  const ScratchFolder scratch("aotifuzz-sanitizer");
  const std::string log = scratch.file("log");
  WorkerOptions options;
  options.program = request.program;
  options.arguments = request.arguments;
  options.arguments.allocator = AllocatorMode::kGuard;
  options.arguments.spares = 0;  // the tool watches the program that it starts
  options.case_timeout = request.timeout;
  options.wrapper = {program->path, "--tool", request.tool, "--print-limit", "1000", "--log-file", log};
  options.serves_itself = true;
  std::vector<DeviceBuffer> buffers;
  {
    WorkerProcess worker(options);
    for (const Case& before : request.before) worker.run(before);
    const CaseResult ended = worker.run(request.input);
    if (ended.death && ended.death->kind == WorkerDeath::Kind::kLost)
      throw HarnessError("the worker was lost under compute-sanitizer", ended.death->last_words,
                         "replay the case without it; check free memory on the device");
    if (ended.death) buffers = ended.death->device_buffers;
    worker.end(kEndTimeout);
  }
  SanitizeResult result;
  result.version = program->version;
  result.text = fs::exists(log) ? read_file(log) : "";
  result.log = parse_sanitizer_log(result.text);
  result.fault = locate(result.log, buffers);
  if (!result.log.complete && result.log.errors.empty())
    throw HarnessError(
        "compute-sanitizer did not get through the case",
        program->path + " --tool " + request.tool + (result.text.empty() ? "" : "\n" + result.text.substr(0, 2000)),
        "give it more time with --timeout, and check that it runs at all: aotifuzz doctor");
  return result;
}

void add_to_finding(const std::string& folder, const std::string& tool, const SanitizeResult& result) {
  write_file_whole(folder + "/sanitizer.log", result.text);
  auto errors = nlohmann::ordered_json::array();
  std::string section = kSection;
  section +=
      "\n" + result.version + ", " + tool + ": " + std::to_string(result.log.errors.size()) + " distinct errors\n\n";
  if (result.fault) section += "The package " + memory_fault_sentence(*result.fault) + ".\n\n";
  for (const SanitizerError& error : result.log.errors) {
    errors.push_back({{"what", error.what},
                      {"kernel", error.kernel},
                      {"place", error.place},
                      {"thread", error.thread},
                      {"address", error.address},
                      {"nearest", error.nearest},
                      {"times", error.times}});
    section += "- " + describe(error) + "\n";
  }
  const std::string json_path = folder + "/finding.json", report_path = folder + "/report.md";
  if (auto finding = nlohmann::ordered_json::parse(read_file(json_path), nullptr, false); finding.is_object()) {
    Measures measures = measures_of(finding);
    merge_measures(&measures, sanitizer_measures(result.log, result.fault));
    finding["measures"] = measures;
    if (result.fault && finding.contains("reason") && finding["reason"].is_string())
      finding["reason"] = located_reason(finding["reason"].get<std::string>(), *result.fault);
    finding["sanitizer"] = {{"tool", tool}, {"version", result.version}, {"errors", std::move(errors)}};
    write_file_whole(json_path, finding.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  if (fs::exists(report_path)) {
    std::string report = read_file(report_path);
    report.resize(std::min(report.find(kSection), report.size()));  // of an earlier run
    write_file_whole(report_path, report + section);
  }
}

}  // namespace aotifuzz
