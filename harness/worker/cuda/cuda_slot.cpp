#include "worker/cuda/cuda_slot.h"

#include <bit>

#include "core/check.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

constexpr size_t kExactGranules = 32;
constexpr size_t kStepsPerDoubling = 4;

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

}  // namespace

CudaSlotMaker::CudaSlotMaker(int device) {
  properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties_.location.id = device;
  const CUresult code = CudaDriver::get().granularity(&granule_, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  AOTIFUZZ_CHECK(code == CUDA_SUCCESS && granule_ > 0) << CudaDriver::get().error_text(code);
}

size_t CudaSlotMaker::slot_bytes(size_t bytes) const {
  const size_t granules = bytes == 0 ? 1 : (bytes + granule_ - 1) / granule_;
  if (granules <= kExactGranules) return granules * granule_;
  return round_up(granules, std::bit_floor(granules) / kStepsPerDoubling) * granule_;
}

CudaSlot CudaSlotMaker::make(size_t bytes) const {
  const CudaDriver& driver = CudaDriver::get();
  CudaSlot slot;
  slot.bytes = bytes;
  if (driver.create(&slot.memory, bytes, &properties_, 0) != CUDA_SUCCESS) return {};
  CUdeviceptr base = 0;
  if (driver.address_reserve(&base, bytes + 2 * kCudaGuardBytes, 0, 0, 0) != CUDA_SUCCESS) {
    driver.release(slot.memory);
    return {};
  }
  slot.start = base + kCudaGuardBytes;
  if (open(slot)) return slot;
  driver.release(slot.memory);
  driver.address_free(base, bytes + 2 * kCudaGuardBytes);
  return {};
}

bool CudaSlotMaker::open(const CudaSlot& slot) const {
  const CudaDriver& driver = CudaDriver::get();
  if (driver.map(slot.start, slot.bytes, 0, slot.memory, 0) != CUDA_SUCCESS) return false;
  CUmemAccessDesc access{};
  access.location = properties_.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (driver.set_access(slot.start, slot.bytes, &access, 1) == CUDA_SUCCESS) return true;
  driver.unmap(slot.start, slot.bytes);
  return false;
}

bool CudaSlotMaker::make_read_only(const CudaSlot& slot) const {
  CUmemAccessDesc access{};
  access.location = properties_.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  return CudaDriver::get().set_access(slot.start, slot.bytes, &access, 1) == CUDA_SUCCESS;
}

void CudaSlotMaker::close(const CudaSlot& slot) const { CudaDriver::get().unmap(slot.start, slot.bytes); }

void CudaSlotMaker::destroy(const CudaSlot& slot) const {
  const CudaDriver& driver = CudaDriver::get();
  driver.unmap(slot.start, slot.bytes);  // fails, harmlessly, for one that is closed
  driver.release(slot.memory);
  driver.address_free(slot.start - kCudaGuardBytes, slot.bytes + 2 * kCudaGuardBytes);
}

}  // namespace aotifuzz
