#include "gate/gate_server.h"

#include <ATen/Parallel.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <sstream>

#include "core/error.h"
#include "gate/gate_child.h"
#include "gate/registration.h"
#include "worker/crash_handler.h"
#include "worker/server_setup.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a hang is looked for.
constexpr int kLookMs = 200;
/// The library's constructors may run for long; the parent watches those.
constexpr int kReadBytes = 1 << 16;
/// Exit code of a process that lost its device; the crumb says how.
constexpr int kDeviceLost = 102;
/// Getting a device ready may take as long at the least, however short a call must be.
constexpr std::chrono::milliseconds kDeviceStart{60'000};

GateCrumb* new_crumb() {
  void* memory = mmap(nullptr, sizeof(GateCrumb), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw HarnessError("no memory to share with the process of an operator", "mmap", "free memory");
  return new (memory) GateCrumb;
}

void write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = write(fd, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(kExitWorld);  // the reader is gone
    at += static_cast<size_t>(count);
  }
}

/// What several lines of an operator say is told apart by their numbers.
void tell_line(int line, int lines, GateOperator* part) {
  if (lines == 1) return;
  const std::string number = std::to_string(line + 1);
  if (!part->not_judged.empty())
    part->not_judged += " (line " + number + " of its " + std::to_string(lines) + " lines)";
  if (line == 0) return;
  std::map<std::string, std::string> expressions;
  for (auto& [key, text] : part->expressions) expressions.emplace(number + "." + key, std::move(text));
  part->expressions = std::move(expressions);
  std::map<std::string, GateValue> values;
  for (auto& [key, value] : part->values) values.emplace(number + "." + key, std::move(value));
  part->values = std::move(values);
}

}  // namespace

GateServer::GateServer(GateServerOptions options, int message_fd)
    : options_(std::move(options)), message_fd_(message_fd) {}

GateServer::~GateServer() = default;

void GateServer::send(const GateMessage& message) { write_all(message_fd_, print_gate_message(message)); }

void GateServer::send_operator(GateOperator op) {
  GateMessage message;
  message.kind = GateMessage::Kind::kOperator;
  message.op = std::move(op);
  send(message);
}

int GateServer::run() {
  try {
    load();
    serve();
    send({});
    return kExitNoFaults;
  } catch (const HarnessError& error) {
    const WorkerMessage fatal = fatal_message(error);
    GateMessage message;
    message.kind = GateMessage::Kind::kFatal;
    message.what = fatal.what;
    message.where = fatal.where;
    message.to_do = fatal.to_do;
    send(message);
    return kExitWorld;
  }
}

void GateServer::serve() {
  std::vector<Job> waiting(jobs_.rbegin(), jobs_.rend());
  // Every process that judges has one CPU thread and memory of its own to be watched.
  at::set_num_threads(1);
  for (GateOperator& op : foreign_) send_operator(std::move(op));
  while (!waiting.empty() || !children_.empty()) {
    while (!waiting.empty() && static_cast<int>(children_.size()) < options_.jobs) {
      start(std::move(waiting.back()));
      waiting.pop_back();
    }
    std::vector<pollfd> fds;
    for (const auto& child : children_) fds.push_back({child->pipe, POLLIN, 0});
    poll(fds.data(), fds.size(), kLookMs);
    std::vector<Child*> closed;
    for (size_t i = 0; i < fds.size(); ++i) {
      Child* child = children_[i].get();
      if (fds[i].revents != 0 && !read_from(child)) closed.push_back(child);
      const uint64_t beat = child->crumb->beat;
      if (beat != child->beat) {
        child->beat = beat;
        child->beat_time = Clock::now();
      } else if (Clock::now() - child->beat_time > time_limit(*child)) {
        // The first signal leaves a stack behind; a process that holds it off gets the second.
        kill(child->pid, child->hung ? SIGKILL : SIGABRT);
        child->hung = true;
        child->beat_time = Clock::now();
      }
    }
    for (Child* child : closed) ended(child);
  }
}

std::chrono::milliseconds GateServer::time_limit(const Child& child) const {
  const bool starts = options_.device && child.crumb->phase == GateCrumb::kIdle;
  return starts ? std::max(options_.step_timeout, kDeviceStart) : options_.step_timeout;
}

/// What is known of an operator before anything of it runs.
GateOperator GateServer::hello_of(const Job& job) const {
  const OperatorSpec* spec = job.spec;
  GateOperator hello;
  hello.name = job.name;
  if (job.resume.restarts == 0) {
    hello.begun = 1;
    hello.calls = spec && spec->is_call;
    if (const auto unused = calls_not_used_.find(job.name); unused != calls_not_used_.end() && job.line == 0)
      hello.calls_not_used = unused->second;
  }
  if (spec && spec->skip) {
    hello.not_judged = "the spec says @skip";
    return hello;
  }
  if (!job.kernels.meta) {
    if (spec && spec->python_fake)
      hello.not_judged = "its fake is Python (the spec says so)" + (python_ ? ", and " + job.kernels.why_no_meta : "");
    else
      hello.not_judged = job.kernels.why_no_meta;
    if (hello.not_judged.empty() && job.resume.restarts == 0 && job.line == 0) {
      GateFinding finding;
      finding.kind = "meta-missing";
      finding.message = "no meta kernel: export cannot trace a call";
      if (python_) {
        finding.message = "no meta kernel, and no fake in Python: export cannot trace a call";
        finding.change = "register a fake (torch.library.register_fake), or a C++ kernel for the Meta key";
      }
      const Registration at = registration_of(job.op, "");
      finding.file = job.kernels.meta_place.line > 0 ? job.kernels.meta_place.file : at.file;
      finding.line = job.kernels.meta_place.line > 0 ? job.kernels.meta_place.line : at.line;
      finding.function = job.kernels.meta_place.function;
      hello.findings = {finding};
    }
  }
  if (job.kernels.meta && spec && spec->python_fake)
    hello.notes = {"the spec says @python-fake, but it has a C++ meta, which is judged"};
  return hello;
}

void GateServer::start(Job job) {
  const OperatorSpec* spec = job.spec;
  GateOperator hello = hello_of(job);
  if (options_.init_spec) {
    const DrawnArguments drawn = draw_arguments(job.op.schema(), spec);
    std::ostringstream schema;
    schema << job.op.schema();
    hello.schema = schema.str();
    hello.arguments = drawn.unsupported.empty() ? spec_line(job.op.schema(), job.name, drawn)
                                                : "# " + job.name + ": " + drawn.unsupported;
    send_operator(std::move(hello));
    return;
  }
  const bool skip = spec && spec->skip;
  int python_fd = -1;
  if (!skip && (job.kernels.python_meta || job.kernels.python_cpu)) {
    python_fd = python_->connect();
    if (python_fd < 0) {
      hello.not_judged = python_->trouble();
      hello.ended = 1;
    }
  }
  const bool lost = hello.ended > 0;
  send_operator(std::move(hello));
  if (skip || lost || (!job.kernels.meta && !job.kernels.kernel)) return;

  auto child = std::make_unique<Child>(Child{.job = std::move(job),
                                             .crumb = nullptr,
                                             .pid = -1,
                                             .pipe = -1,
                                             .pending = "",
                                             .beat = 0,
                                             .beat_time = Clock::now(),
                                             .start = Clock::now(),
                                             .hung = false});
  if (free_crumbs_.empty()) free_crumbs_.push_back(new_crumb());
  child->crumb = free_crumbs_.back();
  free_crumbs_.pop_back();
  // The table of the last operator's buffers means nothing in the new process.
  memset(static_cast<void*>(child->crumb), 0, sizeof(GateCrumb));
  new (child->crumb) GateCrumb;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw HarnessError("no further pipe", "pipe2", "raise the limit on open files");
  const pid_t parent = getpid();
  child->pid = fork();
  if (child->pid < 0)
    throw HarnessError("no further process can be forked", "fork", "check the limits on processes and memory");
  if (child->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kExitWorld);
    close(ends[0]);
    judge(*child, ends[1], python_fd);
  }
  close(ends[1]);
  if (python_fd >= 0) close(python_fd);
  child->pipe = ends[0];
  children_.push_back(std::move(child));
}

void GateServer::judge(Child& child, int pipe, int python_fd) {
  GateCrumb* const crumb = child.crumb;
  const auto report = [&](GateOperator part) {
    part.name = child.job.name;
    tell_line(child.job.line, child.job.lines, &part);
    GateMessage message;
    message.kind = GateMessage::Kind::kOperator;
    message.op = std::move(part);
    write_all(pipe, print_gate_message(message));
  };
  GuardAllocator& allocator = GuardAllocator::install(&crumb->recorder);
  // On the host a device's kernels get what torch gives them.
  if (child.job.resume.aligned || options_.device) allocator.set_alignment(64);
  install_crash_handlers(&crumb->recorder, &allocator);
  std::unique_ptr<DeviceRuntime> device;
  if (options_.device && child.job.kernels.kernel) {
    try {
      device = options_.device->open(&crumb->recorder, [crumb](const std::string& error, bool outside_buffers) {
        GateCrumb::set(crumb->device_error, error);
        crumb->outside_buffers = outside_buffers;
        _exit(kDeviceLost);
      });
    } catch (const HarnessError& error) {
      GateOperator part;
      part.not_judged = options_.device->name() + " cannot be used: " + fatal_message(error).what;
      part.ended = 1;
      report(std::move(part));
      _exit(0);
    }
  }
  KernelMemory memory(allocator, device.get());
  JudgeOptions options = options_.judge;
  options.key = kernel_key();
  OperatorJudge judge(child.job.op, child.job.spec, child.job.kernels, options, memory, crumb, python_fd, report);
  judge.run(child.job.resume);
  _exit(0);  // the library's destructors are not ours to run
}

bool GateServer::read_from(Child* child) {
  char buffer[kReadBytes];
  const ssize_t count = read(child->pipe, buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  child->pending.append(buffer, static_cast<size_t>(count));
  const size_t whole = child->pending.rfind('\n');
  if (whole == std::string::npos) return true;
  write_all(message_fd_, child->pending.substr(0, whole + 1));
  child->pending.erase(0, whole + 1);
  return true;
}

void GateServer::ended(Child* child) {
  int status = 0;
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  close(child->pipe);
  GateOperator times;
  times.name = child->job.name;
  times.seconds = std::chrono::duration<double>(Clock::now() - child->start).count();
  send_operator(std::move(times));
  const auto at = std::find_if(children_.begin(), children_.end(), [&](const auto& c) { return c.get() == child; });
  const std::unique_ptr<Child> owned = std::move(*at);
  children_.erase(at);
  free_crumbs_.push_back(owned->crumb);
  if (WIFSIGNALED(status))
    died(owned.get(), WTERMSIG(status), owned->hung);
  else if (WEXITSTATUS(status) != 0)
    died(owned.get(), 0, false);
}

}  // namespace aotifuzz
