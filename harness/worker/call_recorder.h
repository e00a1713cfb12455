#pragma once

#include "core/flight_recorder.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {

/// Writes to the flight recorder which kernel runs, as the how manieth of its run, and what it was given. A few stores
/// a call.
class CallRecorder final : public KernelObserver {
 public:
  /// Publishes `names` (KernelCalls::names()) for the parent.
  CallRecorder(FlightRecorder& recorder, const std::vector<std::string>& names);
  void before(const KernelCall& call) override;
  void after(const KernelCall& call) override;

 private:
  FlightRecorder& recorder_;
};

}  // namespace aotifuzz
