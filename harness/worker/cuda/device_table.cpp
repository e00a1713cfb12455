#include "worker/cuda/device_table.h"

#include <algorithm>
#include <cstring>

#include "core/memory_fault.h"

namespace aotifuzz {

int DeviceTable::add() {
  if (!recorder_) return -1;
  if (!unused_.empty()) {
    const int entry = unused_.back();
    unused_.pop_back();
    return entry;
  }
  return next_ < static_cast<int>(FlightRecorder::kDeviceAllocations) ? next_++ : -1;
}

void DeviceTable::remove(int entry) {
  AllocationEntry* const gone = at(entry);
  if (!gone) return;
  gone->state = AllocationEntry::kNever;
  unused_.push_back(entry);
}

uint32_t DeviceTable::allocated(int entry, CUdeviceptr address, size_t bytes) {
  AllocationEntry* const made = at(entry);
  ++serial_;
  if (!made) return serial_;
  made->address = address;
  made->bytes = bytes;
  made->serial = serial_;
  made->stage = recorder_->stage;
  made->allocated_call = recorder_->calls.load(std::memory_order_relaxed);
  made->role = BufferRole::kOther;
  made->name[0] = '\0';
  made->state = AllocationEntry::kLive;
  return serial_;
}

void DeviceTable::freed(int entry) {
  AllocationEntry* const gone = at(entry);
  if (!gone) return;
  gone->freed_call = recorder_->calls.load(std::memory_order_relaxed);
  gone->state = AllocationEntry::kFreed;
}

void DeviceTable::label(int entry, BufferRole role, std::string_view name) {
  AllocationEntry* const named = at(entry);
  if (!named) return;
  const size_t n = std::min(name.size(), AllocationEntry::kNameMax - 1);
  std::memcpy(named->name, name.data(), n);
  named->name[n] = '\0';
  named->role = role;
}

void DeviceTable::damaged(int entry, uint32_t serial, size_t bytes, size_t distance) {
  if (!recorder_) return;
  if (AllocationEntry* const hit = at(entry); hit && hit->serial != serial) {
    // Inputs and constants live to the end of the run: it was neither.
    hit->bytes = bytes;
    hit->serial = serial;
    hit->role = BufferRole::kOther;
    hit->name[0] = '\0';
    hit->state = AllocationEntry::kFreed;
  }
  FaultEntry& fault = recorder_->fault;
  fault.access = static_cast<int32_t>(MemoryFault::Access::kWrite);
  fault.place = static_cast<int32_t>(MemoryFault::Place::kPastEnd);
  fault.slot = entry;
  fault.distance = distance;
  fault.on_device = 1;
  fault.guarded = 1;
}

}  // namespace aotifuzz
