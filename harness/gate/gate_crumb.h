#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/flight_recorder.h"

namespace aotifuzz {

/// What a process that judges an operator is doing: shared memory that it writes before each step and the server reads
/// after its death.
struct GateCrumb {
  enum Phase : int32_t { kIdle, kGuess, kSymbolic, kMeta, kKernel };

  std::atomic<int32_t> phase{kIdle};
  std::atomic<int64_t> step{0};   ///< of the phase: index of the guess, or of the point
  std::atomic<uint64_t> beat{0};  ///< changes with each step: a process that hangs has the same for long
  std::atomic<int64_t> weight{0};
  std::atomic<bool> declared_outs{false};  ///< tensors to be written have the size that a meta declares
  char sizes[192] = {};
  char layout[16] = {};
  char arguments[512] = {};
  char device_error[64] = {};                ///< by which the device was lost; "" = it was not
  std::atomic<bool> outside_buffers{false};  ///< and it means that memory was touched that is nobody's
  char python_death[192] = {};               ///< how the Python process of the operator ended
  FlightRecorder recorder;

  void at(Phase new_phase, int64_t new_step) {
    phase = new_phase;
    step = new_step;
    ++beat;
  }
  template <size_t n>
  static void set(char (&field)[n], std::string_view text) {
    const size_t count = text.size() < n - 1 ? text.size() : n - 1;
    std::memcpy(field, text.data(), count);
    field[count] = '\0';
  }
};

/// Where a process that takes over from one that died goes on, and what it must not do again.
struct GateResume {
  int first_guess = 0;
  bool guess_is_accepted = false;  ///< the kernel died on the first guess of a fault of its own
  bool symbolic = true;            ///< false: the meta died there
  bool symbolic_reported = false;
  int64_t first_point = 0;
  int deaths = 0;        ///< at points
  int restarts = 0;      ///< of any cause
  bool aligned = false;  ///< memory is aligned as torch's own is: a kernel died of an address that no guard explains
};

}  // namespace aotifuzz
