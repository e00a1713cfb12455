#include "core/device_buffers.h"

#include <algorithm>

namespace aotifuzz {
namespace {

/// What is farther from a block than this has nothing to do with it, unless the launch was given the block.
constexpr uint64_t kNearMax = uint64_t{1} << 30;
/// Past this the address is no pointer of the launch gone astray but one made of garbage.
constexpr uint64_t kArgumentNearMax = uint64_t{1} << 36;
/// Elements of an empty tensor lie from null on.
constexpr uint64_t kNullMax = uint64_t{1} << 20;

uint64_t distance_to(const DeviceBuffer& buffer, uint64_t address) {
  const uint64_t end = buffer.address + buffer.buffer.bytes;
  if (address < buffer.address) return buffer.address - address;
  return address < end ? 0 : address - end + 1;  // adjacent is nearer than neither inside nor outside
}

}  // namespace

std::vector<DeviceBuffer> recorded_device_buffers(const FlightRecorder& recorder) {
  std::vector<DeviceBuffer> out;
  for (const AllocationEntry& entry : recorder.device_allocations) {
    MemoryFault buffer = buffer_of(recorder, entry);
    if (!buffer.buffer_known) continue;
    const bool is_argument = entry.state == AllocationEntry::kLive && buffer.argument >= 0;
    out.push_back({entry.address, is_argument, std::move(buffer)});
  }
  return out;
}

std::optional<MemoryFault> fault_near(const std::vector<DeviceBuffer>& buffers, uint64_t address,
                                      MemoryFault::Access access) {
  if (address < kNullMax) {
    MemoryFault fault;
    fault.access = access;
    fault.place = MemoryFault::Place::kNull;
    fault.distance = address;
    return fault;
  }
  const auto better = [&](const DeviceBuffer& a, const DeviceBuffer& b) {
    const uint64_t from_a = distance_to(a, address), from_b = distance_to(b, address);
    if ((from_a == 0) != (from_b == 0)) return from_a == 0;
    if (a.is_argument != b.is_argument) return a.is_argument;
    if (a.buffer.freed.empty() != b.buffer.freed.empty()) return a.buffer.freed.empty();
    return from_a < from_b;
  };
  const auto best = std::min_element(buffers.begin(), buffers.end(), better);
  if (best == buffers.end() || distance_to(*best, address) > (best->is_argument ? kArgumentNearMax : kNearMax))
    return std::nullopt;
  using Place = MemoryFault::Place;
  MemoryFault fault = best->buffer;
  fault.access = access;
  const uint64_t end = best->address + fault.bytes;
  if (address >= best->address && address < end) {
    fault.place = fault.freed.empty() ? Place::kReadOnly : Place::kAfterFree;
    fault.distance = address - best->address;
  } else {
    fault.place = address >= end ? Place::kPastEnd : Place::kBeforeStart;
    fault.distance = address >= end ? address - end : best->address - address;
  }
  return fault;
}

}  // namespace aotifuzz
