#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/kernel_trace.h"
#include "package/kernel_map.h"
#include "store/worker_arguments.h"
#include "worker/kernel_calls.h"
#include "worker/snapshots.h"
#include "worker/tensor_layouts.h"

namespace aotifuzz {

/// What a trace is to hold.
struct TraceOptions {
  TraceLevel level = TraceLevel::kStats;
  std::vector<std::string> kernels;  ///< names, or parts of them; empty: all
  std::string folder;                ///< tensors are saved here as .npy; "": they are not
};

/// What a worker is asked to trace; nullopt: it judges cases.
std::optional<TraceOptions> trace_options(const WorkerArguments& arguments);

/// Writes down the kernel calls of a run, with what they are given and leave behind, on any package: tensors are those
/// whose data pointer the package asked for. What each is to its call a map says; without one, what a call
/// changed is left by it, and what it did not change, or an earlier call left, is given. One run at a time.
class KernelTracer final : public KernelObserver {
 public:
  explicit KernelTracer(TraceOptions options) : options_(std::move(options)) {}

  /// Launches work on the device whose memory this copies; it is waited for at each tensor. Without it: the CPU.
  void set_device(std::unique_ptr<Snapshots> device) { device_ = std::move(device); }

  /// From now on it is the observer, before whoever was. `map` null: none.
  void begin(const KernelMap* map = nullptr);
  std::vector<TraceCall> end();

  void before(const KernelCall& call) override;
  void after(const KernelCall& call) override;

 private:
  struct Tensor {
    size_t word = 0;
    const void* pointer = nullptr;
    TensorLayouts::Layout layout;
    at::Tensor before;  ///< undefined: it cannot be read
  };
  at::Tensor copied(const Tensor& tensor);
  bool needs_bytes() const;
  void forget_copies();
  void collect(const KernelCall& call);
  std::optional<KernelArgument::Role> role_of(std::string_view kernel, size_t word) const;
  TraceTensor describe(const Tensor& tensor, const at::Tensor& values, const char* when) const;
  std::string save(const at::Tensor& tensor, const std::string& what) const;
  bool is_wanted(std::string_view kernel) const;

  TraceOptions options_;
  TensorLayouts layouts_;
  std::optional<HostSnapshots> host_;
  std::unique_ptr<Snapshots> device_;
  std::vector<TraceCall> calls_;
  std::vector<Tensor> tensors_;  ///< of the call that runs
  const KernelMap* map_ = nullptr;
  std::set<const void*> written_;  ///< by calls so far
  int depth_ = 0;
  int ordinal_ = 0;
  bool wanted_ = false;
  std::string current_;  ///< name of the call that has begun
  KernelObserver* behind_ = nullptr;
};

/// Least, greatest, mean, NaN and infinities of a tensor.
void add_statistics(const at::Tensor& tensor, TraceLevel level, TraceTensor* out);

/// Writes `tensor` in NumPy's format, as float32 where NumPy has no such type. Throws HarnessError.
void write_npy(const at::Tensor& tensor, const std::string& path);

}  // namespace aotifuzz
