#include "worker/device_copies.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace aotifuzz {
namespace {

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

void copy_region(Region& region, c10::Device device) {
  const int64_t bytes = region.end - region.begin;
  region.copy = at::empty({bytes}, at::TensorOptions(at::kByte).device(device));
  for (const c10::Storage& part : region.parts) {
    const int64_t at = begin_of(part) - region.begin;
    region.copy.narrow(0, at, static_cast<int64_t>(part.nbytes())).copy_(bytes_of(part));
  }
}

}  // namespace

at::Tensor bytes_of(const c10::Storage& storage) {
  at::Tensor flat = at::empty({0}, at::TensorOptions(at::kByte).device(storage.device()));
  flat.set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
  return flat;
}

std::vector<at::Tensor> copied_to(const std::vector<at::Tensor>& tensors, c10::Device device) {
  std::vector<Region> regions = regions_of(tensors, device);
  for (Region& region : regions) copy_region(region, device);
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
