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
#include "core/memory_fault.h"
#include "gate/registration.h"
#include "gate/stack_frames.h"
#include "worker/crash_handler.h"
#include "worker/server_setup.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// How often a hang is looked for.
constexpr int kLookMs = 200;
/// The library's constructors may run for long; the parent watches those.
constexpr int kReadBytes = 1 << 16;

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

struct GateServer::Child {
  Job job;
  GateCrumb* crumb = nullptr;
  pid_t pid = -1;
  int pipe = -1;
  std::string pending;
  uint64_t beat = 0;
  Clock::time_point beat_time;
  Clock::time_point start;
  bool hung = false;
};

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
      } else if (Clock::now() - child->beat_time > options_.step_timeout) {
        // The first signal leaves a stack behind; a process that holds it off gets the second.
        kill(child->pid, child->hung ? SIGKILL : SIGABRT);
        child->hung = true;
        child->beat_time = Clock::now();
      }
    }
    for (Child* child : closed) ended(child);
  }
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
  if (skip || lost || (!job.kernels.meta && !job.kernels.cpu)) return;

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
    GuardAllocator& allocator = GuardAllocator::install(&child->crumb->recorder);
    if (child->job.resume.aligned) allocator.set_alignment(64);
    install_crash_handlers(&child->crumb->recorder, &allocator);
    const std::string name = child->job.name;
    OperatorJudge judge(child->job.op, spec, child->job.kernels, options_.judge, allocator, child->crumb, python_fd,
                        [&](GateOperator part) {
                          part.name = name;
                          tell_line(child->job.line, child->job.lines, &part);
                          GateMessage message;
                          message.kind = GateMessage::Kind::kOperator;
                          message.op = std::move(part);
                          write_all(ends[1], print_gate_message(message));
                        });
    judge.run(child->job.resume);
    _exit(0);  // the library's destructors are not ours to run
  }
  close(ends[1]);
  if (python_fd >= 0) close(python_fd);
  child->pipe = ends[0];
  children_.push_back(std::move(child));
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

GateFinding GateServer::finding_of_death(const Child& child, int signal, bool hung) const {
  const GateCrumb& crumb = *child.crumb;
  const FlightRecorder& recorder = crumb.recorder;
  const bool in_kernel = crumb.phase == GateCrumb::kKernel || crumb.phase == GateCrumb::kGuess;
  const OperatorSpec* spec = child.job.spec;
  const bool by_default = !spec;
  // Of a call sizes and numbers are known to be legal, and what integer tensors hold is not.
  const bool unknown = by_default || (spec->is_call && tensor_values_may_matter(crumb.arguments));
  GateFinding finding;
  finding.sizes = crumb.sizes;
  finding.layout = crumb.layout;
  finding.arguments = crumb.arguments;
  finding.weight = crumb.weight;
  const std::string python = crumb.python_death;
  const std::string how = !python.empty() ? "ends its Python process (" + python + ")"
                          : signal == 0
                              ? "exits the process"
                              : "dies of " + std::string(sigdescr_np(signal) ? sigdescr_np(signal) : "a signal");
  const auto memory = recorded_memory_fault(recorder);
  if (hung) {
    finding.kind = in_kernel ? "kernel-hangs" : "meta-crashes";
    finding.message = std::string(in_kernel ? "the kernel" : "the meta") + " did not end within " +
                      std::to_string(options_.step_timeout.count() / 1000) + " s";
    finding.precondition = in_kernel && unknown;
  } else if (!in_kernel) {
    finding.kind = "meta-crashes";
    finding.message = "the meta " + how;
  } else if (memory && memory->buffer_known && memory->place != MemoryFault::Place::kNull) {
    finding.kind = "kernel-overruns";
    finding.message = "the kernel " + memory_fault_sentence(*memory);
    // Its own buffer, or an output of the size that the meta declares, is too small whatever the arguments; an index or
    // a second size that was drawn by default may be one that the kernel does not allow.
    const bool own = memory->role != BufferRole::kInput || crumb.declared_outs;
    finding.precondition = by_default ? !own || values_may_matter(crumb.arguments) : unknown;
  } else {
    finding.kind = "kernel-crashes";
    finding.message = "the kernel " + how;
    finding.precondition = unknown;
  }
  finding.actual = finding.message;
  const OperatorKernels& kernels = child.job.kernels;
  if (in_kernel ? kernels.python_cpu : kernels.python_meta) {
    const SourcePlace& place = in_kernel ? kernels.cpu_place : kernels.meta_place;
    finding.file = place.file;
    finding.line = place.line;
    finding.function = place.function;
    return finding;
  }
  const Registration at = registration_of(child.job.op, in_kernel ? "CPU" : "Meta");
  finding.file = at.file;
  finding.line = at.line;
  std::vector<uint64_t> addresses;
  for (int i = 0; i < recorder.fault.frame_count && i < static_cast<int>(FaultEntry::kFramesMax); ++i)
    addresses.push_back(recorder.fault.frames[i]);
  finding.frames = frames_in_libraries(addresses, /*first_is_exact=*/true);
  return finding;
}

/// Reports a death and lets another process go on behind it.
void GateServer::died(Child* child, int signal, bool hung) {
  const GateCrumb& crumb = *child->crumb;
  Job job = child->job;
  const auto phase = static_cast<GateCrumb::Phase>(crumb.phase.load());
  if (std::string(crumb.python_death) == strsignal(SIGKILL)) {
    GateOperator killed;
    killed.name = job.name;
    killed.not_judged = "its Python process was killed from outside: is there memory enough?";
    killed.ended = 1;
    send_operator(std::move(killed));
    return;
  }
  ++job.resume.restarts;
  if (phase != GateCrumb::kGuess) ++job.resume.deaths;
  // Vector instructions may rely on the alignment that torch's own allocator gives.
  const bool unexplained = signal == SIGSEGV && !hung && crumb.recorder.fault_address == 0 &&
                           crumb.recorder.fault.access == static_cast<int32_t>(MemoryFault::Access::kUnknown);
  if (unexplained && !job.resume.aligned && phase == GateCrumb::kKernel) {
    job.resume.aligned = true;
    job.resume.symbolic_reported = true;
    job.resume.first_point = crumb.step;
    start(std::move(job));
    return;
  }
  // Arguments that are only tried to see whether the kernel takes them prove nothing.
  if (phase != GateCrumb::kGuess && phase != GateCrumb::kIdle) {
    GateOperator part;
    part.name = job.name;
    part.findings = {finding_of_death(*child, signal, hung)};
    send_operator(std::move(part));
  }
  GateOperator end;
  end.name = job.name;
  const int deaths_max = job.spec ? kDeathsMax : kDeathsMaxByDefault;
  if (job.resume.deaths >= deaths_max) {
    end.notes = {"its process died " + std::to_string(deaths_max) + " times: the rest of its points are not tried"};
    end.ended = 1;
    send_operator(std::move(end));
    return;
  }
  switch (phase) {
    case GateCrumb::kGuess:
      job.resume.first_guess = static_cast<int>(crumb.step);
      job.resume.guess_is_accepted = !finding_of_death(*child, signal, hung).precondition;
      if (!job.resume.guess_is_accepted) ++job.resume.first_guess;
      break;
    case GateCrumb::kSymbolic:
      job.resume.symbolic = false;
      break;
    case GateCrumb::kMeta:
    case GateCrumb::kKernel:
      job.resume.symbolic_reported = true;
      job.resume.first_point = crumb.step + 1;
      break;
    case GateCrumb::kIdle:
      end.not_judged = "the process that judges it ended before it began";
      send_operator(std::move(end));
      return;
  }
  start(std::move(job));
}

}  // namespace aotifuzz
