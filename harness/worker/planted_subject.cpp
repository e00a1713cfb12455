#include "worker/planted_subject.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace aotifuzz {
namespace {

// Volatile: a compiler must not see that what follows cannot be meant.
volatile int seven = 7, zero = 0;
volatile char sink = 0;
void* volatile lost = nullptr;

constexpr size_t kLostBytes = 1000;
constexpr std::chrono::milliseconds kMeetingTime{20};

}  // namespace

void PlantedSubject::touch(const char* address, bool write) const {
  if (runtime_)
    runtime_->touch(address, write);
  else if (write)
    *const_cast<volatile char*>(address) = 1;
  else
    sink = *const_cast<const volatile char*>(address);
}

void PlantedSubject::commit(PlantedFault fault, const at::Tensor& x, at::Tensor* out) const {
  const auto* start = static_cast<const char*>(x.data_ptr());
  const char* end = start + x.nbytes();
  switch (fault) {
    case PlantedFault::kNone:
      return;
    case PlantedFault::kOverrunRead:
    case PlantedFault::kOverrunWrite:
      return touch(end, fault == PlantedFault::kOverrunWrite);
    case PlantedFault::kUnderrunRead:
      return touch(start - 1, false);
    case PlantedFault::kUseAfterFree: {
      const auto* gone = static_cast<const char*>(at::ones_like(x).data_ptr());
      touch(gone, false);
      if (!runtime_) out->fill_(static_cast<int>(sink));  // as a kernel would that reads it
      return;
    }
    case PlantedFault::kUnwrittenRead:
      *out = at::empty_like(x);
      return;
    case PlantedFault::kDivision:
      sink = static_cast<char>(seven / zero);
      return;
    case PlantedFault::kHang:
      while (zero == 0) {
      }
      return;
    case PlantedFault::kRemembers:
      longest_ = std::max(longest_, x.numel());
      if (x.numel() < longest_) out->add_(1);
      return;
    case PlantedFault::kLeak:
      lost = std::malloc(kLostBytes);
      return;
    case PlantedFault::kSharedMemory:
      if (meets_another_call()) out->add_(1);
      return;
  }
}

/// Waits a moment for one: two callers that begin at the same time meet however the system schedules them.
bool PlantedSubject::meets_another_call() const {
  const int now = ++inside_;
  const auto end = std::chrono::steady_clock::now() + kMeetingTime;
  bool met = now > 1;
  while (!met && std::chrono::steady_clock::now() < end) met = inside_ > 1;
  if (met) std::this_thread::sleep_for(kMeetingTime);  // so that the other one sees it too
  --inside_;
  return met;
}

Subject::Results PlantedSubject::run(std::span<const c10::IValue> inputs, bool, StderrCapture*) {
  Results results;
  try {
    const at::Tensor x = inputs[1].toTensor();
    at::Tensor out = x * 2;
    commit(static_cast<PlantedFault>(inputs[0].toTensor().item<int64_t>()), x, &out);
    results.outputs = {std::move(out)};
  } catch (const std::exception& error) {
    results.outcome.kind = OutcomeKind::kRejected;
    results.outcome.message = error.what();
  }
  return results;
}

}  // namespace aotifuzz
