#include "core/memory_fault.h"

#include <string.h>

#include <utility>

namespace aotifuzz {
namespace {

using Access = MemoryFault::Access;
using Place = MemoryFault::Place;

template <size_t n>
std::string text_of(const char (&chars)[n]) {
  return std::string(chars, ::strnlen(chars, n));
}

std::string kernel_of_call(const FlightRecorder& recorder, int call) {
  if (call < 1 || call > static_cast<int>(FlightRecorder::kCalls)) return "";
  const size_t kernel = recorder.call_kernels[call - 1];
  return kernel < FlightRecorder::kKernels ? text_of(recorder.kernels[kernel]) : "";
}

/// `begun` calls had begun when something happened.
std::string when(const FlightRecorder& recorder, int begun) {
  if (begun <= 0) return "before the first kernel call";
  const std::string kernel = kernel_of_call(recorder, begun);
  return "after kernel call " + std::to_string(begun) + (kernel.empty() ? "" : " (" + kernel + ")");
}

bool is_of_the_package(const AllocationEntry& entry) {
  return entry.stage == static_cast<int32_t>(Stage::kSubject) ||
         entry.stage == static_cast<int32_t>(Stage::kSubjectAgain);
}

std::string buffer_key(const MemoryFault& fault) {
  if (!fault.buffer_known) return "no buffer";
  switch (fault.role) {
    case BufferRole::kInput:
      return "input " + fault.name;
    case BufferRole::kConstant:
      return "constant " + fault.name;
    case BufferRole::kOther:
      break;
  }
  return "intermediate";
}

const char* access_word(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kUnknown:
      break;
  }
  return "access";
}

const char* place_words(Place place) {
  switch (place) {
    case Place::kPastEnd:
      return "past end of";
    case Place::kBeforeStart:
      return "before start of";
    case Place::kAfterFree:
      return "after free of";
    case Place::kReadOnly:
    case Place::kNull:
      break;
  }
  return "to";
}

}  // namespace

MemoryFault buffer_of(const FlightRecorder& recorder, const AllocationEntry& buffer) {
  MemoryFault fault;
  if (buffer.state != AllocationEntry::kLive && buffer.state != AllocationEntry::kFreed) return fault;
  fault.buffer_known = true;
  if (buffer.role == BufferRole::kInput || buffer.role == BufferRole::kConstant) fault.role = buffer.role;
  fault.name = text_of(buffer.name);
  fault.bytes = buffer.bytes;
  fault.serial = buffer.serial;
  if (fault.role == BufferRole::kOther && is_of_the_package(buffer))
    fault.allocated = when(recorder, buffer.allocated_call);
  if (buffer.state == AllocationEntry::kFreed) fault.freed = when(recorder, buffer.freed_call);
  if (recorder.call_running == 1)
    for (size_t i = 0; i < FlightRecorder::kCallWords && fault.argument < 0; ++i)
      if (recorder.call_words[i] >= buffer.address && recorder.call_words[i] - buffer.address < buffer.bytes)
        fault.argument = static_cast<int>(i);
  return fault;
}

MemoryFault recorded_buffer(const FlightRecorder& recorder, int slot) {
  if (slot < 0 || slot >= static_cast<int>(FlightRecorder::kAllocations)) return {};
  return buffer_of(recorder, recorder.allocations[slot]);
}

std::optional<MemoryFault> recorded_memory_fault(const FlightRecorder& recorder) {
  const FaultEntry& entry = recorder.fault;
  if (entry.guarded != 1) return std::nullopt;
  const bool of_device =
      entry.on_device == 1 && entry.slot >= 0 && entry.slot < static_cast<int>(FlightRecorder::kDeviceAllocations);
  MemoryFault fault = of_device              ? buffer_of(recorder, recorder.device_allocations[entry.slot])
                      : entry.on_device == 1 ? MemoryFault()
                                             : recorded_buffer(recorder, entry.slot);
  if (entry.access >= 0 && entry.access <= static_cast<int32_t>(Access::kWrite))
    fault.access = static_cast<Access>(entry.access);
  if (entry.place >= 0 && entry.place <= static_cast<int32_t>(Place::kNull))
    fault.place = static_cast<Place>(entry.place);
  fault.distance = entry.distance;
  fault.kernel = recorded_kernel(recorder);
  if (recorder.call_running == 1) fault.call = recorder.calls;
  return fault;
}

std::string recorded_kernel(const FlightRecorder& recorder) {
  return recorder.call_running == 1 ? kernel_of_call(recorder, recorder.calls) : "";
}

std::string recorded_stack(const FlightRecorder& recorder) { return text_of(recorder.fault.stack_text); }

std::string memory_buffer_text(const MemoryFault& fault) {
  if (!fault.buffer_known) return "every buffer";
  const std::string bytes = std::to_string(fault.bytes) + (fault.bytes == 1 ? " byte" : " bytes");
  if (fault.role != BufferRole::kOther) return buffer_key(fault) + " (" + bytes + ")";
  const std::string which = "buffer " + std::to_string(fault.serial) + " of the run, " + bytes;
  return "an intermediate or output (" + (fault.value.empty() ? "" : fault.value + ", ") + which + ")";
}

std::string memory_fault_key(const MemoryFault& fault) {
  if (fault.place == Place::kNull) return std::string(access_word(fault.access)) + " through null";
  return std::string(access_word(fault.access)) + " " + place_words(fault.place) + " " + buffer_key(fault);
}

std::string memory_fault_sentence(const MemoryFault& fault) {
  std::string out = fault.access == Access::kRead    ? "reads "
                    : fault.access == Access::kWrite ? "writes "
                                                     : "touches memory ";
  const std::string buffer = memory_buffer_text(fault), distance = std::to_string(fault.distance);
  if (fault.place == Place::kNull) return out + "through the null pointer of an empty tensor";
  if (!fault.buffer_known) return out + "in a guard region, far from " + buffer;
  switch (fault.place) {
    case Place::kPastEnd:
      return out + (fault.distance == 0 ? "the first byte" : distance + " bytes") + " past the end of " + buffer;
    case Place::kBeforeStart:
      return out + distance + " bytes before the start of " + buffer;
    case Place::kAfterFree:
      return out + "at byte " + distance + " of " + buffer + " after it was freed";
    case Place::kReadOnly:
    case Place::kNull:
      break;
  }
  return out + "at byte " + distance + " of " + buffer + ", which the program does not write";
}

std::vector<std::pair<std::string, std::string>> memory_fault_measures(const MemoryFault& fault) {
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("access", access_word(fault.access));
  if (fault.buffer_known) {
    out.emplace_back("buffer", memory_buffer_text(fault));
    const char* unit = fault.place == Place::kPastEnd       ? "bytes past the end"
                       : fault.place == Place::kBeforeStart ? "bytes before the start"
                                                            : "at byte";
    out.emplace_back(unit, std::to_string(fault.distance));
  }
  if (!fault.kernel.empty()) out.emplace_back("kernel", fault.kernel);
  if (fault.call > 0) out.emplace_back("kernel call of the run", std::to_string(fault.call));
  if (fault.argument >= 0) out.emplace_back("argument", std::to_string(fault.argument + 1) + " of the call");
  if (!fault.allocated.empty()) out.emplace_back("allocated", fault.allocated);
  if (!fault.freed.empty()) out.emplace_back("freed", fault.freed);
  return out;
}

namespace {

/// The condition behind a fault: one that speaks of the touched input, else the first.
const Violation* broken_condition(const std::vector<Violation>& broken, const std::string& input) {
  if (broken.empty()) return nullptr;
  for (const Violation& violation : broken)
    if (!input.empty() && violation.text.find(input + ".") != std::string::npos) return &violation;
  return &broken.front();
}

Verdict verdict_on(const std::string& key, const std::string& reason, const std::string& input,
                   const InputState& inputs) {
  const bool refused = inputs.has_reference && !inputs.reference_accepts;
  const Violation* broken = broken_condition(inputs.broken, input);
  Verdict verdict;
  verdict.oracle = "memory";
  verdict.status = VerdictStatus::kFail;
  verdict.cls = VerdictClass::kMemoryFault;
  verdict.fault = !broken && inputs.has_reference && !refused;
  verdict.signature = std::string(verdict_class_name(VerdictClass::kMemoryFault)) + " " + key;
  verdict.reason = reason;
  if (broken) {
    verdict.signature += ", breaks " + broken->text;
    verdict.reason += ", on inputs outside the contract: " + broken->detail;
  } else if (refused) {
    verdict.signature += ", reference raises";
    verdict.reason += ", on inputs for which the reference raises an error";
  } else {
    verdict.reason +=
        inputs.has_reference ? ", on inputs that the reference accepts" : std::string(", ") + kLegalityUnknown;
  }
  return verdict;
}

}  // namespace

Verdict memory_fault_verdict(const MemoryFault& fault, const InputState& inputs) {
  std::string reason = "the package " + memory_fault_sentence(fault);
  if (!fault.kernel.empty()) reason += " in " + fault.kernel;
  Verdict verdict =
      verdict_on(memory_fault_key(fault), reason, fault.role == BufferRole::kInput ? fault.name : "", inputs);
  verdict.measures = memory_fault_measures(fault);
  const Violation* broken = broken_condition(inputs.broken, fault.role == BufferRole::kInput ? fault.name : "");
  if (broken) verdict.measures.emplace_back("broken condition", broken->text + ": " + broken->detail);
  return verdict;
}

Verdict unwritten_read_verdict(const std::string& where, const InputState& inputs) {
  return verdict_on("read of memory never written, " + where,
                    "the package reads memory that was never written: " + where +
                        " depends on what it holds, and on nothing else that differs between runs",
                    "", inputs);
}

}  // namespace aotifuzz
