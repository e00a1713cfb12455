#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "gate/gate_device.h"

namespace aotifuzz::test {

/// A device whose memory is the CPU's, for what a gate does around one. Its errors are those that the test plants.
class FakeRuntime final : public DeviceRuntime {
 public:
  std::function<void(int run)> at_end;  ///< called with the number of the run, from 1
  int unread_at = 0;                    ///< the n-th time that somebody asks there is an unread error; 0 = never
  int runs = 0;
  DeviceRun last_run;

  c10::Device device() const override { return c10::kCPU; }
  std::string description() const override { return "fake"; }
  void require(const std::string&, const std::string&) const override {}
  void keep_files(const std::vector<std::string>&) override {}
  void warm_up() override {}
  void fetch(std::span<const Fetch> pieces) override {
    for (const Fetch& piece : pieces) std::memcpy(piece.to, piece.from, piece.bytes);
  }
  std::string unread_error() override { return ++asked_ == unread_at ? "invalid configuration" : ""; }
  std::unique_ptr<Snapshots> make_snapshots() const override { return nullptr; }
  void touch(const void*, bool) override {}
  void begin_case(bool) override {}
  void begin_run(const DeviceRun& run) override {
    last_run = run;
    ++runs;
  }
  void end_run() override {
    if (at_end) at_end(runs);
  }

 private:
  int asked_ = 0;
};

class FakeDevice final : public GateDevice {
 public:
  c10::DispatchKey kernels = c10::DispatchKey::CPU;
  /// What open() does; may throw, or never return.
  std::function<std::unique_ptr<DeviceRuntime>(FlightRecorder*, Lost)> opened = [](FlightRecorder*, Lost) {
    return std::make_unique<FakeRuntime>();
  };

  std::string name() const override { return "fake:0"; }
  c10::DispatchKey key() const override { return kernels; }
  std::unique_ptr<DeviceRuntime> open(FlightRecorder* recorder, Lost lost) override {
    return opened(recorder, std::move(lost));
  }
};

}  // namespace aotifuzz::test
