#include "campaign/doctor.h"

#include <fmt/format.h>

#include <memory>

#include "campaign/find_tool.h"
#include "campaign/torch_builds.h"
#include "campaign/triage.h"
#include "campaign/worker_link.h"
#include "campaign/worker_process.h"
#include "core/error.h"
#include "core/planted.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

using Status = DoctorRow::Status;

/// Long enough for a planted case on a slow machine, short enough to wait for once.
constexpr std::chrono::milliseconds kLimit{2'000};
/// A device takes seconds for its first kernels.
constexpr std::chrono::milliseconds kDeviceLimit{20'000};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Examines one device.
class Examination {
 public:
  Examination(std::string device, std::string folder, std::vector<DoctorRow>& rows)
      : device_(std::move(device)), folder_(std::move(folder)), on_device_(device_ != "cpu"), rows_(rows) {}

  void run() {
    try {
      worker_ = std::make_unique<WorkerProcess>(options(/*guard=*/true));
      worker_->set_careful(true);
      const WorkerHello& hello = worker_->start();
      add(Status::kOk, "worker",
          fmt::format("torch {}, {}", hello.torch_version,
                      on_device_ ? hello.device : "CPU capability " + hello.cpu_capability));
    } catch (const HarnessError& error) {
      // No GPU is a property of the machine; a CPU worker that does not start is a broken installation.
      add(on_device_ ? Status::kNotHere : Status::kBroken, "worker", error.what());
      return;
    }
    for (const Planted& planted : planted_faults())
      if (planted.on_device || !on_device_) try_planted(planted);
    try_recovery();
    try_plain_allocator();
  }

 private:
  WorkerOptions options(bool guard) const {
    WorkerOptions out;
    out.program = find_worker_program(on_device_ ? "cuda" : "cpu", folder_);
    out.arguments.planted = true;
    if (!guard) out.arguments.allocator = AllocatorMode::kCaching;
    if (on_device_) out.arguments.device = device_;
    out.case_timeout = on_device_ ? kDeviceLimit : kLimit;
    out.arguments.spares = on_device_ ? 1 : 0;
    return out;
  }

  void add(Status status, const std::string& what, const std::string& detail) {
    rows_.push_back({status, device_ + ": " + what, detail});
  }

  Case case_for(PlantedFault fault) const {
    // Allocators of devices align to 16 bytes: a read is exact only where the end is aligned; a write is seen in any
    // slack.
    const bool aligned = on_device_ && fault != PlantedFault::kOverrunWrite;
    return *parse_case(aligned ? planted_aligned_case(fault) : planted_case(fault));
  }

  std::vector<Verdict> verdicts_of(WorkerProcess& worker, PlantedFault fault) const {
    const Case c = case_for(fault);
    return judge_result({planted_contract(on_device_ ? device_ : "cpu"), /*has_reference=*/false}, c, worker.run(c));
  }

  static const Verdict* failed(const std::vector<Verdict>& verdicts) {
    for (const Verdict& verdict : verdicts)
      if (verdict.status == VerdictStatus::kFail) return &verdict;
    return nullptr;
  }

  void try_planted(const Planted& planted) {
    try {
      const std::vector<Verdict> verdicts = verdicts_of(*worker_, planted.fault);
      const Verdict* verdict = failed(verdicts);
      const std::string seen =
          !verdict ? "nothing" : std::string(verdict_class_name(*verdict->cls)) + ": " + verdict->reason;
      const bool right = planted.expected ? verdict && *verdict->cls == *planted.expected : !verdict;
      if (planted.fault == PlantedFault::kOverrunRead) overrun_noticed_ = right;
      const std::string expected = planted.expected ? std::string(verdict_class_name(*planted.expected)) : "nothing";
      add(right ? Status::kOk : Status::kBroken, std::string(planted.name),
          right ? (planted.expected ? "noticed as " + first_line(seen) : "passes, as it should")
                : fmt::format("expected {}, noticed {}", expected, first_line(seen)));
    } catch (const HarnessError& error) {
      add(Status::kBroken, std::string(planted.name), error.what());
    }
  }

  /// The next case after a fault must come back as if nothing had been.
  void try_recovery() {
    const char* what = on_device_ ? "poisoned CUDA context" : "next case after a crash";
    try {
      const PlantedFault fault = on_device_ ? PlantedFault::kOverrunRead : PlantedFault::kDivision;
      if (!failed(verdicts_of(*worker_, fault))) {
        add(Status::kBroken, what, "the fault before it was not noticed");
        return;
      }
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<Verdict> verdicts = verdicts_of(*worker_, PlantedFault::kNone);
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      const Verdict* verdict = failed(verdicts);
      add(verdict ? Status::kBroken : Status::kOk, what,
          verdict ? "a right case fails after a fault: " + verdict->reason
                  : fmt::format("the next case runs in another process, {:.0f} ms later", ms));
    } catch (const HarnessError& error) {
      add(Status::kBroken, what, error.what());
    }
  }

  /// That torch's own allocator lets pass what is noticed above proves that it is out of the way.
  void try_plain_allocator() {
    const char* what = on_device_ ? "caching allocator is out" : "torch's allocator is out";
    try {
      if (!overrun_noticed_) {
        add(Status::kBroken, what, "an overrun goes unnoticed, as it does with torch's own");
        return;
      }
      WorkerProcess plain(options(/*guard=*/false));
      if (failed(verdicts_of(plain, PlantedFault::kOverrunRead)))
        add(Status::kNotHere, what, "torch's own notices the same overrun on this machine, so this proves nothing");
      else
        add(Status::kOk, what, "with it, the same overrun goes unnoticed");
    } catch (const HarnessError& error) {
      add(Status::kBroken, what, error.what());
    }
  }

  std::string device_;
  std::string folder_;  ///< of the worker's program
  bool on_device_;
  bool overrun_noticed_ = false;
  std::vector<DoctorRow>& rows_;
  std::unique_ptr<WorkerProcess> worker_;
};

void add_builds(const std::vector<TorchBuild>& builds, const std::vector<std::string>& problems,
                std::vector<DoctorRow>& rows) {
  for (const TorchBuild& build : builds)
    rows.push_back(
        {Status::kOk, "worker for torch " + build.version.text(),
         build.full_version + ", " + build.folder + (build.python.empty() ? "" : ", torch of " + build.python)});
  for (const std::string& problem : problems) rows.push_back({Status::kBroken, "worker for another torch", problem});
}

void add_program(const std::string& device, const char* what, const std::string& folder, std::vector<DoctorRow>& rows) {
  try {
    rows.push_back({Status::kOk, what, find_worker_program(device, folder)});
  } catch (const HarnessError& error) {
    rows.push_back({device == "cpu" ? Status::kBroken : Status::kNotHere, what, error.what()});
  }
}

void add_tool(const std::string& program, const std::string& needed_for, std::vector<DoctorRow>& rows) {
  if (const auto tool = find_tool(program))
    rows.push_back({Status::kOk, program, tool->version + " (" + tool->path + ")"});
  else
    rows.push_back({Status::kNotHere, program, "not on PATH nor in /usr/local/cuda/bin; " + needed_for});
}

}  // namespace

std::string_view doctor_status_name(DoctorRow::Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kNotHere:
      return "not here";
    case Status::kBroken:
      return "BROKEN";
  }
  return "";
}

std::vector<DoctorRow> examine(const DoctorRequest& request) {
  std::vector<DoctorRow> rows;
  std::vector<std::string> problems;
  if (const std::string given = given_worker_program(); !request.torch.empty() && !given.empty())
    throw UsageError("both a worker and a version of torch are asked for", given + ", --torch " + request.torch,
                     "unset AOTIFUZZ_WORKER, or leave --torch out");
  const std::vector<TorchBuild> builds = installed_torch_builds(&problems);
  add_builds(builds, problems, rows);
  const std::string folder =
      builds.empty() && request.torch.empty() ? "" : choose_torch(builds, "", request.torch).build.folder;
  const bool cpu = request.device.empty() || request.device == "cpu";
  const std::string cuda = request.device.empty() ? "cuda:0" : cpu ? "" : request.device;
  if (cpu) {
    add_program("cpu", "aotifuzz-worker", folder, rows);
    Examination("cpu", folder, rows).run();
  }
  if (cuda.empty()) return rows;
  add_program("cuda", "aotifuzz-worker-cuda", folder, rows);
  add_tool("nvidia-smi", "it comes with the driver", rows);
  add_tool("compute-sanitizer", "`aotifuzz sanitize` needs it: install the CUDA Toolkit", rows);
  if (rows[rows.size() - 3].status == Status::kOk) Examination(cuda, folder, rows).run();
  return rows;
}

}  // namespace aotifuzz
