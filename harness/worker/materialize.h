#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "core/case.h"
#include "worker/device_runtime.h"

namespace aotifuzz {

/// The inputs of one case as tensors. The values are computed once, into pristine storages that no run ever sees; each
/// run gets copies of these storages (a copy of the bytes costs a fraction of making the values again).
///
/// Layout:   sizes, strides and offset exactly as the case says, negative offsets and out-of-storage views excluded by
///           parse_case. Elements are written in logical order: where strides make them overlap, the last one wins.
/// Gaps:     storage elements that the view does not reach hold further values of the same recipe: what a wrong stride
///           reads is plausible data, never something that a kernel could not be given.
/// Aliasing: an input with `storage_of` views that input's storage, in every copy; the storage is as large as the
///           largest of its views.
///           Storages of 1 GiB and more that views hardly reach into hold zeros there instead, and take no memory: an
///           offset of 2^31 elements costs nothing on the host.
/// Memory:   from c10's CPU allocator; the guard allocator, where it is installed, is told which input each copy is.
///           Storages end where their data ends unless `misalign_bytes` fixes the start.
/// Throws c10::Error or std::bad_alloc when memory runs out, std::invalid_argument for a view of what has no storage.
/// Call under the autograd mode that the runs use.
class CaseInputs {
 public:
  explicit CaseInputs(const Case& c);
  /// One tensor per input, in order; undefined for scalars. Never given to a run: compare with these.
  std::span<const at::Tensor> pristine() const { return pristine_; }
  /// Fresh copies: same bits, layout and aliasing, other memory.
  std::vector<at::Tensor> copies() const { return copies_on({}); }
  /// The same where the contract wants each input: `devices` has one entry per input, the first view of a storage
  /// decides for all. On a device storages end where their data ends, too; `runtime`, where there is one, is told which
  /// input each copy there is.
  std::vector<at::Tensor> copies_on(std::span<const c10::Device> devices, DeviceRuntime* runtime = nullptr) const;

 private:
  struct Block {  ///< one storage
    int64_t bytes = 0;
    int64_t misalign = 0;
    int64_t reached = 0;   ///< bytes of elements of its views
    std::string name;      ///< of the input that it belongs to; others may view it
    c10::Storage storage;  ///< pristine
    bool sparse() const;   ///< reserved, and touched only where views reach
  };
  void copy_reached(int block, char* to) const;
  void add_tensor(const Case& c, size_t index);

  const Case* case_;
  std::vector<Block> blocks_;
  std::vector<int> block_of_;  ///< per input; -1: no storage (scalar, zero tensor)
  std::vector<at::Tensor> pristine_;
};

}  // namespace aotifuzz
