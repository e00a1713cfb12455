#pragma once

#include <atomic>

#include "core/planted.h"
#include "worker/device_runtime.h"
#include "worker/subject.h"

namespace aotifuzz {

/// Commits the fault that its first input names (core/planted.h), on the device that its inputs lie on.
class PlantedSubject final : public Subject {
 public:
  /// `runtime`: null on the CPU.
  explicit PlantedSubject(DeviceRuntime* runtime) : runtime_(runtime) {}
  Results run(std::span<const c10::IValue> inputs, bool input_checks, StderrCapture* errors) override;
  void reset_before_runs(const std::string&, const at::Tensor&) override {}  // it has no buffers

 private:
  void commit(PlantedFault fault, const at::Tensor& x, at::Tensor* out) const;
  void touch(const char* address, bool write) const;
  bool meets_another_call() const;

  DeviceRuntime* runtime_;
  mutable int64_t longest_ = 0;  ///< x that any call had
  mutable std::atomic<int> inside_{0};
};

}  // namespace aotifuzz
