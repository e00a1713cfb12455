#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "package/kernel_slice.h"
#include "worker/kernel_calls.h"
#include "worker/snapshots.h"

namespace aotifuzz {

/// What is to be kept of one mapped call: labels by argument and position.
struct CapturePlan {
  struct Read {
    size_t argument = 0, label = 0;
    bool on_entry = true;
  };
  std::vector<Read> reads;
};

/// What one call was given and left behind.
struct CapturedCall {
  size_t call = 0;  ///< index into KernelMap::calls
  std::vector<at::Tensor> entries = {},
                          exits = {};  ///< per read of the plan, in its order; undefined: it could not be read
  std::string failure = {};            ///< why one is undefined; "" = all are there
};

/// Copies what kernels are given and what they leave behind while a package runs; judges nothing. It goes between the
/// package and the observer that was there before. Copies are made where the buffer lies. One run at a time.
class KernelCapture final : public KernelObserver {
 public:
  /// `plans`: one per call of the map; a call whose plan is empty is passed over. Both must outlive this.
  KernelCapture(const KernelMap& map, const std::vector<CapturePlan>& plans);

  /// Buffers of launches lie on the device whose memory this copies. Without it, on the CPU.
  void set_device(std::unique_ptr<Snapshots> device) { device_ = std::move(device); }

  /// Begins with the tensors that the package is about to be called with. Until end() it is the observer.
  void begin(std::span<const at::Tensor> inputs);
  /// The calls that happened, in order, with all tensors on the CPU; the device must be idle. Valid until the next
  /// begin().
  std::vector<CapturedCall> end();

  void before(const KernelCall& call) override;
  void after(const KernelCall& call) override;

  /// A symbol's number in this run; nullopt when it is not known.
  std::optional<int64_t> symbol(const std::string& name) const;

 private:
  /// Where an argument's pointer or handle is among the words of a call.
  struct Word {
    int index = -1;   ///< among integer words; -1: not among them
    int handle = -1;  ///< how often the word must be followed to an AtenTensorHandle; -1: it is a plain pointer
  };
  /// A buffer as the call names it.
  struct Buffer {
    void* data = nullptr;
    const at::Tensor* tensor = nullptr;  ///< null: only the pointer is known
    bool on_device = false;
  };

  std::optional<size_t> find_call(const KernelCall& call) const;
  std::optional<Buffer> buffer_of(const KernelCall& call, size_t mapped, size_t argument) const;
  at::Tensor read(const KernelCall& call, size_t mapped, const CapturePlan::Read& read, std::string* failure);
  void bind_symbols(const KernelCall& call, size_t mapped);
  void read_all(const KernelCall& call, bool on_entry);

  const KernelMap& map_;
  const std::vector<CapturePlan>& plans_;
  std::vector<std::vector<Word>> words_;  ///< by call and argument
  std::optional<HostSnapshots> host_;  ///< made at the first run, which is after forks
  std::unique_ptr<Snapshots> device_;
  std::map<std::string, int64_t> symbols_;
  std::vector<CapturedCall> calls_;
  size_t next_ = 0;      ///< calls of the map before this one have happened, or will not
  bool inside_ = false;  ///< the last of calls_ has begun and not returned
  KernelObserver* behind_ = nullptr;
};

}  // namespace aotifuzz
