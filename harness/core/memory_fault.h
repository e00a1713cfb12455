#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract.h"
#include "core/flight_recorder.h"
#include "core/verdict.h"

namespace aotifuzz {

/// One access to memory that is not the package's to touch, as the guard saw it.
struct MemoryFault {
  enum class Access : int32_t { kUnknown, kRead, kWrite };
  enum class Place : int32_t {
    kPastEnd,
    kBeforeStart,
    kAfterFree,  ///< inside a buffer that was freed
    kReadOnly,   ///< a write inside a buffer that the program does not write
    kNull,       ///< through the null pointer, which empty tensors have; no buffer is known
  };

  Access access = Access::kUnknown;
  Place place = Place::kPastEnd;
  /// Past the end: 0 is the first byte after it. Before the start: 1 is the last byte before it. Else from the start.
  uint64_t distance = 0;
  bool buffer_known = false;  ///< false: the address lies near no buffer, and what follows says nothing
  BufferRole role = BufferRole::kOther;
  std::string name;  ///< of an input or constant
  uint64_t bytes = 0;
  uint32_t serial = 0;           ///< of kOther: the n-th buffer of its run
  std::string kernel;            ///< being run; "" = between calls or not known
  int call = 0;                  ///< its number within the run, from 1; 0 = none
  int argument = -1;             ///< of that call: the first that points into the buffer, from 0; -1 = none does
  std::string value;             ///< what an intermediate holds: "add_4 (aten.add.Tensor)"; "" = not known
  std::string allocated, freed;  ///< "before call 2 (cpp_fused_add_0)"; "" = not known
};

/// What the recorder of a dead worker says; none when its fault lies in no guarded memory. Whatever bytes a dying
/// process left there are read safely.
std::optional<MemoryFault> recorded_memory_fault(const FlightRecorder& recorder);
/// What the table says of the buffer in `slot`; the access is the caller's to fill in.
MemoryFault recorded_buffer(const FlightRecorder& recorder, int slot);
/// The same of an entry of either table, and which argument of the running call points into it.
MemoryFault buffer_of(const FlightRecorder& recorder, const AllocationEntry& entry);
/// Name of the kernel being run; "" when none is.
std::string recorded_kernel(const FlightRecorder& recorder);
/// The stack as the fork server wrote it, one frame a line.
std::string recorded_stack(const FlightRecorder& recorder);

/// "input idx (160 bytes)"; "every buffer" when it is not known.
std::string memory_buffer_text(const MemoryFault& fault);
/// "read past end of input idx": no size, address or kernel, so it may stand in a signature.
std::string memory_fault_key(const MemoryFault& fault);
/// "reads the first byte past the end of input idx (160 bytes)".
std::string memory_fault_sentence(const MemoryFault& fault);

/// Everything known of the access, as measures of a verdict.
std::vector<std::pair<std::string, std::string>> memory_fault_measures(const MemoryFault& fault);

/// What the inputs were like on which memory was touched.
struct InputState {
  const std::vector<Violation>& broken;  ///< empty: the contract allows the case
  bool has_reference = true;
  bool reference_accepts = true;
};
/// The failed verdict: a fault on legal input, else a gap that names the broken condition, one about the touched input
/// where there is one.
Verdict memory_fault_verdict(const MemoryFault& fault, const InputState& inputs);
/// Failed for a read of memory that nobody wrote, seen in `where` ("output 0").
Verdict unwritten_read_verdict(const std::string& where, const InputState& inputs);

}  // namespace aotifuzz
