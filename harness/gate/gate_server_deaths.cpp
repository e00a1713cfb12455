#include <signal.h>
#include <string.h>

#include "core/memory_fault.h"
#include "gate/gate_child.h"
#include "gate/registration.h"
#include "gate/stack_frames.h"

// What a gate server makes of the death of a process that judges an operator.

namespace aotifuzz {

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
  const std::string how = !python.empty()       ? "ends its Python process (" + python + ")"
                          : *crumb.device_error ? "ends with an error of the device: " + std::string(crumb.device_error)
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
  } else if (crumb.outside_buffers) {
    finding.kind = "kernel-overruns";
    finding.message = "the kernel reads or writes outside every buffer: " + std::string(crumb.device_error) + " on " +
                      options_.device->name();
    finding.precondition = unknown;
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
  const Registration at = registration_of(child.job.op, in_kernel ? c10::toString(kernel_key()) : "Meta");
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
  const bool unexplained = signal == SIGSEGV && !hung && !options_.device && crumb.recorder.fault_address == 0 &&
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
