#include "worker/weight_store.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <utility>

#include "core/error.h"
#include "package/package_info.h"
#include "worker/device_copies.h"
#include "worker/device_graph.h"
#include "worker/dtype_map.h"
#include "worker/guard_allocator.h"

namespace aotifuzz {
namespace {

std::vector<int64_t> values_of(const std::vector<SymDim>& dims) {
  std::vector<int64_t> out;
  for (const SymDim& dim : dims) out.push_back(dim.value());
  return out;
}

/// A view with the layout of `meta`, checked against the bytes that there are.
at::Tensor view_of(const c10::Storage& storage, const WeightInfo& weight, const std::string& archive) {
  const std::vector<int64_t> sizes = values_of(weight.meta.sizes), strides = values_of(weight.meta.strides);
  const int64_t offset = weight.meta.offset.value();
  int64_t last = offset;
  bool empty = false, sane = offset >= 0 && sizes.size() == strides.size();
  for (size_t d = 0; sane && d < sizes.size(); ++d) {
    sane = sizes[d] >= 0 && strides[d] >= 0;
    empty = empty || sizes[d] == 0;
    last += (sizes[d] - 1) * strides[d];
  }
  const int64_t width = dtype_bytes(weight.meta.dtype);
  if (!sane || (!empty && (last + 1) * width > static_cast<int64_t>(storage.nbytes())))
    throw HarnessError("weight " + weight.fqn + " is shorter than its metadata says", archive + ": " + weight.member,
                       "export the program again");
  at::Tensor tensor = at::empty({0}, at::TensorOptions(to_scalar_type(weight.meta.dtype)).device(storage.device()));
  tensor.set_(storage, offset, sizes, strides);
  return tensor;
}

}  // namespace

c10::ScalarType wide_type(c10::ScalarType type) {
  if (c10::isComplexType(type)) return c10::kComplexDouble;
  if (c10::isFloatingType(type)) return c10::kDouble;
  return type;
}

WeightStore::WeightStore(const Program& program, const std::string& archive, c10::Device device) {
  std::map<std::string, c10::Storage> by_member;
  for (const WeightInfo& weight : program.weights) {
    if (weight.pickled || weight.meta.layout != 7 || to_scalar_type(weight.meta.dtype) == c10::ScalarType::Undefined) {
      unsupported_.push_back("weight " + weight.fqn + ": not a plain strided tensor");
      continue;
    }
    auto known = by_member.find(weight.member);
    if (known == by_member.end()) {
      const std::vector<uint8_t> bytes = read_member(archive, weight.member);
      c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes.size(),
                                                                 c10::GetCPUAllocator(), false));
      if (!bytes.empty()) std::memcpy(storage.mutable_data(), bytes.data(), bytes.size());
      if (GuardAllocator* guard = GuardAllocator::installed())
        guard->label(storage.data(), BufferRole::kConstant, "of the reference: " + weight.fqn);
      if (const c10::Device place = placed(weight.meta.device, device); !place.is_cpu())
        storage = bytes_of(storage).to(place).storage();
      known = by_member.emplace(weight.member, std::move(storage)).first;
    }
    at::Tensor tensor = view_of(known->second, weight, archive);
    storages_.emplace(tensor.storage().data(), tensor);
    weights_.emplace(weight.fqn, std::move(tensor));
  }
}

void WeightStore::replace(std::map<std::string, at::Tensor> values) {
  replaced_ = std::move(values);
  replaced_wide_.clear();
}

at::Tensor WeightStore::find(const std::string& fqn) const {
  if (const auto other = replaced_.find(fqn); other != replaced_.end()) return other->second;
  const auto it = weights_.find(fqn);
  return it == weights_.end() ? at::Tensor() : it->second;
}

at::Tensor WeightStore::find_wide(const std::string& fqn) {
  if (const auto other = replaced_.find(fqn); other != replaced_.end()) {
    at::Tensor& wide = replaced_wide_[fqn];
    if (!wide.defined()) wide = widened({other->second})[0];
    return wide;
  }
  if (wide_.empty()) {
    // All at once: weights that share a storage must share the wide one.
    std::vector<at::Tensor> originals;
    for (const auto& [name, tensor] : weights_) originals.push_back(tensor);
    std::vector<at::Tensor> wide = widened(originals);
    size_t i = 0;
    for (const auto& [name, tensor] : weights_) {
      storages_.emplace(wide[i].storage().data(), wide[i]);
      wide_.emplace(name, wide[i++]);
    }
  }
  const auto it = wide_.find(fqn);
  return it == wide_.end() ? at::Tensor() : it->second;
}

std::vector<at::Tensor> widened(const std::vector<at::Tensor>& tensors) {
  std::map<std::pair<const void*, c10::ScalarType>, at::Tensor> flat;  // per storage and type, all its elements widened
  std::vector<at::Tensor> out(tensors);
  for (at::Tensor& tensor : out) {
    if (!tensor.defined()) continue;
    const c10::ScalarType type = tensor.scalar_type(), target = wide_type(type);
    if (type == target) continue;
    if (!tensor.has_storage() || tensor._is_zerotensor() || tensor.numel() == 0) {
      tensor = tensor.to(target);
      continue;
    }
    const c10::Storage& storage = tensor.storage();
    at::Tensor& wide = flat[{storage.unsafeGetStorageImpl(), type}];
    if (!wide.defined()) {
      at::Tensor all = at::empty({0}, tensor.options());
      all.set_(storage, 0, {static_cast<int64_t>(storage.nbytes() / tensor.itemsize())}, {1});
      wide = all.to(target);
    }
    tensor = wide.as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  }
  return out;
}

}  // namespace aotifuzz
