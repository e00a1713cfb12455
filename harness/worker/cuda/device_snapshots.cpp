#include "worker/cuda/device_snapshots.h"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

constexpr size_t kRoomBytes = size_t{16} << 20;

}  // namespace

DeviceSnapshots::~DeviceSnapshots() {
  for (const Room& room : rooms_) CudaDriver::get().free(room.start);
}

void DeviceSnapshots::clear() {
  for (Room& room : rooms_) room.used = 0;
}

bool DeviceSnapshots::may_read(const void* from, size_t bytes) const {
  if (allocator_)
    if (const size_t readable = allocator_->bytes_readable(from); readable > 0) return bytes <= readable;
  const auto address = reinterpret_cast<CUdeviceptr>(from);
  CUdeviceptr start = 0;
  size_t length = 0;
  if (CudaDriver::get().address_range(&start, &length, address) != CUDA_SUCCESS) return false;
  return address >= start && bytes <= length - (address - start);
}

/// 0: no room.
CUdeviceptr DeviceSnapshots::take(size_t bytes) {
  const size_t wanted = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto fits = [&](const Room& room) { return wanted <= room.bytes - room.used; };
  auto room = std::find_if(rooms_.begin(), rooms_.end(), fits);
  if (room == rooms_.end()) {
    Room more;
    more.bytes = std::max(wanted, kRoomBytes);
    if (more.bytes > kBytes - held_ || CudaDriver::get().allocate(&more.start, more.bytes) != CUDA_SUCCESS) return 0;
    held_ += more.bytes;
    room = rooms_.insert(rooms_.end(), more);
  }
  const CUdeviceptr taken = room->start + room->used;
  room->used += wanted;
  return taken;
}

const char* DeviceSnapshots::copy(const void* from, size_t bytes) {
  if (!may_read(from, bytes)) return nullptr;
  const CUdeviceptr to = take(std::max(bytes, kAlignment));
  if (to == 0) return nullptr;
  const CUstream stream = c10::cuda::getCurrentCUDAStream(device_.index()).stream();
  const CUresult queued =
      bytes == 0 ? CUDA_SUCCESS
                 : CudaDriver::get().copy_on_device(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream);
  return queued == CUDA_SUCCESS ? reinterpret_cast<const char*>(to) : nullptr;
}

}  // namespace aotifuzz
