#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/flight_recorder.h"
#include "worker/package_lines.h"

namespace aotifuzz {

/// Names for the code addresses of a dead process. It was forked from this one after everything was loaded, so its
/// addresses mean the same here. A package's library also has names that the dynamic linker does not know (parallel
/// bodies of kernels): they are read from its file by remember_loaded_packages(), before the file is removed. Threads:
/// one at a time.
class CrashSymbols {
 public:
  void remember_loaded_packages();
  /// "cpp_fused_add_embedding_0 (package)", "at::native::sum (libtorch_cpu.so)", "? (libc.so.6)". `is_return`: the
  /// address after a call.
  std::string name_of(uint64_t address, bool is_return) const;
  /// One frame a line, innermost first, `bytes_max` at most. `first_returns`: the first is an address after a call,
  /// as the others always are. Frames of a package with line tables end in "(package, kernel.cpp:17)".
  std::string stack_text(std::span<const uint64_t> frames, bool first_returns, size_t bytes_max);
  /// Writes the stack of a dead process as text into its recorder.
  void write_stack_text(FlightRecorder& recorder);

 private:
  struct Function {
    uint64_t begin = 0, end = 0;
    std::string name;
  };
  std::vector<Function> functions_;  ///< of packages, by address
  PackageLines lines_;
};

}  // namespace aotifuzz
