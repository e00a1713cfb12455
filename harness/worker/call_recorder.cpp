#include "worker/call_recorder.h"

#include <algorithm>
#include <cstring>

namespace aotifuzz {

CallRecorder::CallRecorder(FlightRecorder& recorder, const std::vector<std::string>& names) : recorder_(recorder) {
  const size_t count = std::min(names.size(), FlightRecorder::kKernels);
  for (size_t i = 0; i < count; ++i) {
    const size_t n = std::min(names[i].size(), FlightRecorder::kKernelNameMax - 1);
    std::memcpy(recorder.kernels[i], names[i].data(), n);
    recorder.kernels[i][n] = '\0';
  }
  recorder.kernel_count = static_cast<int32_t>(count);
}

void CallRecorder::before(const KernelCall& call) {
  const int32_t ordinal = recorder_.calls.load(std::memory_order_relaxed);
  if (ordinal < static_cast<int32_t>(FlightRecorder::kCalls))
    recorder_.call_kernels[ordinal] = static_cast<uint16_t>(std::min<size_t>(call.kernel, UINT16_MAX));
  constexpr size_t kRegisters = 6;
  std::memcpy(recorder_.call_words, call.integers, kRegisters * sizeof(uint64_t));
  const size_t more = std::min(call.stack_words, FlightRecorder::kHostCallWords - kRegisters);
  std::memcpy(recorder_.call_words + kRegisters, call.stack, more * sizeof(uint64_t));
  recorder_.calls.store(ordinal + 1, std::memory_order_relaxed);
  recorder_.call_running.store(1, std::memory_order_release);
}

void CallRecorder::after(const KernelCall&) { recorder_.call_running.store(0, std::memory_order_release); }

}  // namespace aotifuzz
