#include "worker/materialize.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "worker/device_copies.h"
#include "worker/dtype_map.h"
#include "worker/guard_allocator.h"
#include "worker/sparse_storage.h"

namespace aotifuzz {
namespace {

/// What "misaligned" counts from: the alignment of c10's own CPU allocator, which kernels are used to.
constexpr int64_t kBoundary = 64;

/// A storage of `bytes` whose data starts `misalign` bytes past a 64-byte boundary; 0 leaves the place to the
/// allocator.
c10::Storage make_storage(int64_t bytes, int64_t misalign) {
  c10::Allocator* allocator = c10::GetCPUAllocator();
  if (misalign == 0) {
    return c10::Storage(
        c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes, allocator, true));
  }
  // A whole number of boundaries, so that an allocator that aligns the end aligns the start too.
  const int64_t whole = (misalign + bytes + kBoundary - 1) / kBoundary * kBoundary;
  c10::DataPtr base = allocator->allocate(whole);
  const auto deleter = base.get_deleter();
  void* data = static_cast<char*>(base.get()) + misalign;
  c10::DataPtr shifted(data, base.release_context(), deleter, c10::Device(c10::kCPU));
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(bytes), std::move(shifted), allocator, false));
}

/// The same on a device, holding the bytes of `host`.
c10::Storage copy_storage(const c10::Storage& host, int64_t misalign, c10::Device device) {
  const int64_t bytes = static_cast<int64_t>(host.nbytes());
  const int64_t whole = misalign == 0 ? bytes : (misalign + bytes + kBoundary - 1) / kBoundary * kBoundary;
  const at::Tensor all = at::empty({whole}, at::TensorOptions(at::kByte).device(device));
  // Need not wait: from ordinary memory the driver has read all of it when the call returns.
  if (bytes > 0) all.narrow(0, misalign, bytes).copy_(bytes_of(host), /*non_blocking=*/true);
  if (misalign == 0) return all.storage();
  void* data = static_cast<char*>(all.mutable_data_ptr()) + misalign;
  auto* owner = new c10::Storage(all.storage());
  c10::DataPtr shifted(
      data, owner, [](void* o) { delete static_cast<c10::Storage*>(o); }, device);
  return c10::Storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), static_cast<size_t>(bytes), std::move(shifted), nullptr, false));
}

at::Tensor make_view(const c10::Storage& storage, const CaseInput& input) {
  const auto key = storage.device().is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA;
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key),
                                                         c10::scalarTypeToTypeMeta(to_scalar_type(input.dtype)));
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (input.strides) {
    impl->set_sizes_and_strides(input.sizes, *input.strides, input.offset);
  } else {
    impl->set_sizes_contiguous(input.sizes);
    impl->set_storage_offset(input.offset);
  }
  return tensor;
}

/// Calls place(linear index, storage element) for every element in logical order.
template <class Place>
void for_each_element(const CaseInput& input, const std::vector<int64_t>& strides, Place place) {
  const int64_t numel = input.numel();
  std::vector<int64_t> index(input.sizes.size(), 0);
  int64_t at = input.offset;
  for (int64_t i = 0; i < numel; ++i) {
    place(i, at);
    for (size_t d = index.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < input.sizes[d]) break;
      at -= strides[d] * input.sizes[d];
      index[d] = 0;
    }
  }
}

/// Writes the elements that the view reaches, and nothing else.
void fill_elements(const CaseInput& input, char* storage) {
  const int64_t numel = input.numel(), width = dtype_bytes(input.dtype);
  std::vector<char> dense(numel * width);
  fill_values(input.values, input.dtype, numel, dense.data());
  for_each_element(input, input.effective_strides(),
                   [&](int64_t i, int64_t at) { std::memcpy(storage + at * width, dense.data() + i * width, width); });
}

void copy_elements(const CaseInput& input, const char* from, char* to) {
  const int64_t width = dtype_bytes(input.dtype);
  for_each_element(input, input.effective_strides(),
                   [&](int64_t, int64_t at) { std::memcpy(to + at * width, from + at * width, width); });
}

void fill_block(const CaseInput& input, char* storage, int64_t storage_elements) {
  const int64_t numel = input.numel();
  if (!input.strides && input.offset == 0 && storage_elements == numel) {
    fill_values(input.values, input.dtype, numel, storage);
    return;
  }
  fill_values(input.values, input.dtype, storage_elements, storage);
  fill_elements(input, storage);
}

}  // namespace

CaseInputs::CaseInputs(const Case& c) : case_(&c), block_of_(c.inputs.size(), -1), pristine_(c.inputs.size()) {
  for (size_t i = 0; i < c.inputs.size(); ++i) add_tensor(c, i);
  // Storages are made once every view of them is known.
  for (size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    block.storage = block.sparse() ? make_sparse_storage(block.bytes) : make_storage(block.bytes, block.misalign);
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (block_of_[i] != static_cast<int>(b)) continue;
      const CaseInput& input = c.inputs[i];
      if (input.storage_of.empty()) {
        const int64_t width = dtype_bytes(input.dtype);
        char* data = static_cast<char*>(block.storage.mutable_data());
        if (block.sparse()) {
          fill_elements(input, data);
          pristine_[i] = make_view(block.storage, input);
          continue;
        }
        fill_block(input, data, block.bytes / width);
        // Bytes past the last whole element, when a view of another width made the storage longer.
        if (const int64_t rest = block.bytes % width) std::memset(data + block.bytes - rest, 0, rest);
      }
      pristine_[i] = make_view(block.storage, input);
    }
  }
}

void CaseInputs::add_tensor(const Case& c, size_t index) {
  const CaseInput& input = c.inputs[index];
  if (input.kind != CaseInput::Kind::kTensor) return;
  if (input.zero_tensor) {
    pristine_[index] = at::_efficientzerotensor(input.sizes, at::TensorOptions(to_scalar_type(input.dtype)));
    return;
  }
  const int64_t bytes = input.storage_elements() * dtype_bytes(input.dtype);
  if (input.storage_of.empty()) {
    block_of_[index] = static_cast<int>(blocks_.size());
    blocks_.push_back({bytes, input.misalign_bytes, input.numel() * dtype_bytes(input.dtype), input.name, {}});
    return;
  }
  for (size_t i = 0; i < index; ++i) {
    if (c.inputs[i].name != input.storage_of || block_of_[i] < 0) continue;
    block_of_[index] = block_of_[i];
    Block& block = blocks_[block_of_[i]];
    block.bytes = std::max(block.bytes, bytes);
    block.reached += input.numel() * dtype_bytes(input.dtype);
    return;
  }
  throw std::invalid_argument("view-of " + input.storage_of + ": no earlier input of that name has a storage");
}

bool CaseInputs::Block::sparse() const { return misalign == 0 && wants_sparse(bytes, reached); }

void CaseInputs::copy_reached(int block, char* to) const {
  for (size_t i = 0; i < pristine_.size(); ++i)
    if (block_of_[i] == block)
      copy_elements(case_->inputs[i], static_cast<const char*>(blocks_[block].storage.data()), to);
}

std::vector<at::Tensor> CaseInputs::copies_on(std::span<const c10::Device> devices, DeviceRuntime* runtime) const {
  std::vector<c10::Storage> storages(blocks_.size());
  GuardAllocator* guard = GuardAllocator::installed();
  std::vector<at::Tensor> tensors(pristine_.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const CaseInput& input = case_->inputs[i];
    const c10::Device device = devices.empty() ? c10::Device(c10::kCPU) : devices[i];
    if (const int b = block_of_[i]; b >= 0) {
      const Block& block = blocks_[b];
      if (!storages[b]) {
        if (device.is_cpu() && block.sparse()) {
          storages[b] = make_sparse_storage(block.bytes);
          copy_reached(b, static_cast<char*>(storages[b].mutable_data()));
        } else if (device.is_cpu()) {
          storages[b] = make_storage(block.bytes, block.misalign);
          if (guard && block.bytes > 0)
            guard->label(static_cast<const char*>(storages[b].data()) - block.misalign, BufferRole::kInput, block.name);
          if (block.bytes > 0) std::memcpy(storages[b].mutable_data(), block.storage.data(), block.bytes);
        } else {
          storages[b] = copy_storage(block.storage, block.misalign, device);
          if (runtime && block.bytes > 0)
            runtime->label(static_cast<const char*>(storages[b].data()) - block.misalign, BufferRole::kInput,
                           block.name);
        }
      }
      tensors[i] = make_view(storages[b], input);
    } else if (pristine_[i].defined()) {
      tensors[i] = at::_efficientzerotensor(input.sizes, at::TensorOptions(to_scalar_type(input.dtype)).device(device));
    }
  }
  return tensors;
}

}  // namespace aotifuzz
