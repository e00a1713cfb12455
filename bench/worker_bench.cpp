// Times the real worker through the real pipes, on one fixed case. Prints one JSON object.
//
//   worker_bench cost PACKAGE CASE SECONDS [MODE]     us per case with every oracle on, and of the runs inside it;
//                                                     MODE: guard (default), caching, nocache
//   worker_bench modes PACKAGE CASE SECONDS           a table: the package's run in every mode and, on a device, under
//                                                     compute-sanitizer, in turn within each of three rounds
//   worker_bench kernels PACKAGE CASE SECONDS         us per case with no and with every kernel judged, in turn within
//                                                     each of three rounds, and of a run that is traced at level names
//   worker_bench recovery PACKAGE GOOD BAD COUNT [PAUSE]  ms from sending a case that kills its process to the report
//   of
//                                                     the next one; PAUSE: seconds of good cases between two deaths, 0
//                                                     without

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "campaign/find_tool.h"
#include "campaign/package_session.h"
#include "core/error.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Case read_case(const std::string& path) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Result<Case> parsed = parse_case(text);
  if (!parsed) throw HarnessError(parsed.error().what, path + ": " + parsed.error().where, "give a case file");
  return *parsed;
}

nlohmann::json cost(WorkerProcess& worker, const Case& c, double seconds) {
  for (int i = 0; i < 50; ++i) worker.run(c);
  std::vector<double> whole;
  std::map<std::string, std::vector<double>> runs;
  const Clock::time_point start = Clock::now();
  while (us_since(start) < seconds * 1e6) {
    const Clock::time_point sent = Clock::now();
    const CaseResult result = worker.run(c);
    whole.push_back(us_since(sent));
    if (!result.report) throw HarnessError("the case killed its process", "worker_bench cost", "choose another case");
    for (const RunSummary& run : result.report->runs) runs[run.run].push_back(run.us);
  }
  nlohmann::json out = {{"cases", whole.size()}, {"case_us", median(whole)}};
  for (const auto& [name, times] : runs) out["runs_us"][name] = median(times);
  return out;
}

nlohmann::json recovery(WorkerProcess& worker, const Case& good, const Case& bad, int count, double pause) {
  std::vector<double> ms;
  for (int i = 0; i < count; ++i) {
    const Clock::time_point pause_start = Clock::now();
    do worker.run(good);
    while (us_since(pause_start) < pause * 1e6);
    const Clock::time_point sent = Clock::now();
    if (worker.run(bad).report)
      throw HarnessError("the case kills no process", "worker_bench recovery", "choose another");
    worker.run(good);
    ms.push_back(us_since(sent) / 1e3);
  }
  return {{"deaths", count},
          {"pause_s", pause},
          {"median_ms", median(ms)},
          {"max_ms", *std::max_element(ms.begin(), ms.end())}};
}

/// A worker for one row of the table.
struct Mode {
  std::string name;
  std::unique_ptr<WorkerProcess> worker;
  std::vector<double> us, ratios;
};

std::vector<Mode> all_modes(const WorkerOptions& options) {
  std::vector<Mode> out;
  const auto add = [&](const std::string& name, WorkerOptions with) {
    with.serves_itself = !with.arguments.device.empty();
    with.arguments.spares = 0;
    out.push_back({name, std::make_unique<WorkerProcess>(with), {}, {}});
    out.back().worker->set_careful(false);
  };
  const bool on_device = !options.arguments.device.empty();
  for (AllocatorMode mode : {AllocatorMode::kCaching, AllocatorMode::kGuard, AllocatorMode::kNoCache}) {
    if (mode == AllocatorMode::kNoCache && !on_device) continue;
    WorkerOptions with = options;
    with.arguments.allocator = mode;
    add(std::string(allocator_mode_name(mode)), with);
  }
  if (!on_device) return out;
  const auto tool = find_tool("compute-sanitizer");
  if (!tool) return out;
  WorkerOptions with = options;
  with.arguments.allocator = AllocatorMode::kNoCache;
  with.wrapper = {tool->path, "--tool", "memcheck", "--log-file", "/dev/null"};
  with.case_timeout = std::chrono::minutes(2);
  add("memcheck", with);
  return out;
}

void print_modes(const WorkerOptions& options, const Case& c, double seconds) {
  constexpr int kRounds = 3;
  std::vector<Mode> modes = all_modes(options);
  for (int round = 0; round < kRounds; ++round)
    for (Mode& mode : modes) {
      mode.us.push_back(cost(*mode.worker, c, seconds / kRounds)["runs_us"]["subject"].get<double>());
      mode.ratios.push_back(mode.us.back() / modes.front().us.back());
    }
  std::printf("| memory | run of the package, us | against torch's own |\n| --- | --- | --- |\n");
  for (const Mode& mode : modes)
    std::printf("| %s | %.0f | %.2f |\n", mode.name.c_str(), median(mode.us), median(mode.ratios));
}

nlohmann::json kernels(const WorkerOptions& options, const Case& c, double seconds) {
  constexpr int kRounds = 3;
  const auto make = [&](int64_t every, std::optional<TraceLevel> trace) {
    WorkerOptions with = options;
    with.arguments.kernels_every = every;
    with.arguments.trace = trace;
    auto worker = std::make_unique<WorkerProcess>(with);
    worker->set_careful(false);
    return worker;
  };
  const auto plain = make(0, std::nullopt), judged = make(1, std::nullopt), traced = make(0, TraceLevel::kNames);
  std::vector<double> plain_us, judged_us, ratios, traced_us, trace_ratios;
  for (int round = 0; round < kRounds; ++round) {
    const nlohmann::json of_plain = cost(*plain, c, seconds / (3 * kRounds));
    plain_us.push_back(of_plain["case_us"]);
    judged_us.push_back(cost(*judged, c, seconds / (3 * kRounds))["case_us"]);
    traced_us.push_back(cost(*traced, c, seconds / (3 * kRounds))["case_us"]);
    ratios.push_back(judged_us.back() / plain_us.back());
    trace_ratios.push_back(traced_us.back() / plain_us.back());
  }
  return {{"plain_case_us", median(plain_us)},
          {"per_kernel_case_us", median(judged_us)},
          {"per_kernel_ratio", median(ratios)},
          {"traced_case_us", median(traced_us)},
          {"trace_ratio", median(trace_ratios)}};
}

int run(const std::vector<std::string>& args) {
  if (args.size() < 4)
    throw UsageError("too few arguments", "worker_bench", "see the comment in bench/worker_bench.cpp");
  WorkerOptions options;
  options.arguments.package = args[1];
  options.arguments.kernels_every = 0;
  options.arguments.device = choose_device(read_package({args[1], "", ""}), "");
  if (!options.arguments.device.empty()) options.arguments.spares = spares_on_device();
  if (args[0] == "modes") {
    print_modes(options, read_case(args[2]), std::stod(args[3]));
    return kExitNoFaults;
  }
  if (args[0] == "kernels") {
    std::cout << kernels(options, read_case(args[2]), std::stod(args[3])).dump() << "\n";
    return kExitNoFaults;
  }
  if (const auto mode = allocator_mode_from_name(args.back())) options.arguments.allocator = *mode;
  WorkerProcess worker(options);
  const Clock::time_point start = Clock::now();
  worker.set_careful(false);
  const WorkerHello hello = worker.start();
  nlohmann::json out = {{"worker_start_ms", us_since(start) / 1e3}, {"start", hello.start}};
  if (args[0] == "cost") out.update(cost(worker, read_case(args[2]), std::stod(args[3])));
  if (args[0] == "recovery" && args.size() > 4)
    out.update(recovery(worker, read_case(args[2]), read_case(args[3]), std::stoi(args[4]),
                        args.size() > 5 ? std::stod(args[5]) : 0));
  std::cout << out.dump() << "\n";
  return kExitNoFaults;
}

}  // namespace
}  // namespace aotifuzz

int main(int argc, char** argv) {
  try {
    return aotifuzz::run({argv + 1, argv + argc});
  } catch (const aotifuzz::HarnessError& error) {
    std::cerr << "worker_bench: " << error.what() << "\n";
    return aotifuzz::kExitWorld;
  }
}
