#include "worker/device_copies.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace aotifuzz {
namespace {

/// Copies of up to so much go through page-locked memory, all at once: each copy into ordinary memory waits for the
/// device.
constexpr int64_t kLockedMax = int64_t{1} << 20;

/// A range of addresses that storages cover without a gap, and its copy.
struct Region {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::vector<c10::Storage> parts;
  at::Tensor copy;
};

const char* begin_of(const c10::Storage& storage) { return static_cast<const char*>(storage.data()); }

bool needs_copy(const at::Tensor& tensor, c10::Device device) {
  return tensor.defined() && tensor.device() != device && tensor.has_storage() && !tensor._is_zerotensor();
}

std::vector<Region> regions_of(const std::vector<at::Tensor>& tensors, c10::Device device) {
  std::vector<Region> pieces;
  for (const at::Tensor& tensor : tensors) {
    if (!needs_copy(tensor, device) || tensor.storage().nbytes() == 0) continue;
    const char* begin = begin_of(tensor.storage());
    pieces.push_back({begin, begin + tensor.storage().nbytes(), {tensor.storage()}, {}});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::vector<Region> regions;
  for (Region& piece : pieces) {
    if (!regions.empty() && piece.begin < regions.back().end) {
      regions.back().end = std::max(regions.back().end, piece.end);
      regions.back().parts.push_back(std::move(piece.parts[0]));
    } else {
      regions.push_back(std::move(piece));
    }
  }
  return regions;
}

/// Whether the device must be waited for before the copy is read.
bool copy_region(Region& region, c10::Device device) {
  const int64_t bytes = region.end - region.begin;
  const bool locked = device.is_cpu() && bytes <= kLockedMax;
  region.copy = at::empty({bytes}, at::TensorOptions(at::kByte).device(device).pinned_memory(locked));
  for (const c10::Storage& part : region.parts) {
    const int64_t at = begin_of(part) - region.begin;
    region.copy.narrow(0, at, static_cast<int64_t>(part.nbytes())).copy_(bytes_of(part), /*non_blocking=*/locked);
  }
  return locked;
}

/// All of them with one wait.
void fetch_regions(std::vector<Region>& regions, DeviceRuntime& source) {
  std::vector<DeviceRuntime::Fetch> pieces;
  for (Region& region : regions) {
    region.copy = at::empty({region.end - region.begin}, at::TensorOptions(at::kByte));
    char* const to = static_cast<char*>(region.copy.mutable_data_ptr());
    for (const c10::Storage& part : region.parts)
      pieces.push_back({begin_of(part), to + (begin_of(part) - region.begin), part.nbytes()});
  }
  source.fetch(pieces);
}

}  // namespace

at::Tensor bytes_of(const c10::Storage& storage) {
  at::Tensor flat = at::empty({0}, at::TensorOptions(at::kByte).device(storage.device()));
  flat.set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
  return flat;
}

std::vector<at::Tensor> copied_to(const std::vector<at::Tensor>& tensors, c10::Device device, DeviceRuntime* source) {
  std::vector<Region> regions = regions_of(tensors, device);
  bool wait = false;
  if (source && device.is_cpu() && !regions.empty())
    fetch_regions(regions, *source);
  else
    for (Region& region : regions) wait |= copy_region(region, device);
  if (wait) {
    const c10::Device source = regions.front().parts.front().device();
    c10::impl::VirtualGuardImpl(source.type()).synchronizeDevice(source.index());
  }
  std::vector<at::Tensor> out(tensors);
  for (at::Tensor& tensor : out) {
    if (!tensor.defined() || tensor.device() == device) continue;
    if (tensor._is_zerotensor()) {
      tensor = at::_efficientzerotensor(tensor.sizes(), tensor.options().device(device));
      continue;
    }
    if (!tensor.has_storage() || tensor.storage().nbytes() == 0) {
      tensor = at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(device));
      continue;
    }
    const char* begin = begin_of(tensor.storage());
    const auto region = std::find_if(regions.begin(), regions.end(),
                                     [&](const Region& r) { return r.begin <= begin && begin < r.end; });
    const int64_t offset = begin - region->begin;
    const int64_t width = static_cast<int64_t>(tensor.element_size());
    at::Tensor copy = at::empty({0}, tensor.options().device(device));
    if (offset % width == 0) {
      copy.set_(region->copy.storage(), offset / width + tensor.storage_offset(), tensor.sizes(), tensor.strides());
    } else {
      const at::Tensor own = region->copy.narrow(0, offset, static_cast<int64_t>(tensor.storage().nbytes())).clone();
      copy.set_(own.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
    }
    if (tensor.is_conj()) copy = at::_conj(copy);
    if (tensor.is_neg()) copy = at::_neg_view(copy);
    tensor = copy;
  }
  return out;
}

}  // namespace aotifuzz
