#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/outcome.h"

namespace aotifuzz {

/// Shared memory (memfd) that a worker writes before each step and the parent reads after its death. Plain data: it must
/// mean the same in both processes, so a change of layout bumps kVersion.
struct FlightRecorder {
  static constexpr uint32_t kMagic = 0x41465a31;  // "AFZ1"
  static constexpr uint32_t kVersion = 1;

  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  std::atomic<uint64_t> case_id{0};
  std::atomic<int32_t> stage{0};            ///< Stage
  std::atomic<int32_t> reference_done{0};   ///< 1: the reference run of this case ended
  std::atomic<int32_t> reference_accepts{0};///< 1: and it finished
  std::atomic<uint64_t> fault_address{0};   ///< set by the signal handler
  std::atomic<int32_t> fault_signal{0};
  char step[160] = {};                      ///< op or kernel being run: "aten.add.Tensor"

  void begin_case(uint64_t id) {
    reference_done = reference_accepts = 0;
    fault_address = 0;
    fault_signal = 0;
    set_step("");
    stage = static_cast<int32_t>(Stage::kParse);
    case_id = id;
  }
  void set_stage(Stage s) { stage = static_cast<int32_t>(s); }
  void set_step(std::string_view text) {
    const size_t n = text.size() < sizeof(step) - 1 ? text.size() : sizeof(step) - 1;
    std::memcpy(step, text.data(), n);
    step[n] = '\0';
  }
};
static_assert(sizeof(FlightRecorder) == 208, "layout is shared between programs: bump kVersion and this number");

}  // namespace aotifuzz
