#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// One error of NVIDIA's compute-sanitizer, as its log tells it.
struct SanitizerError {
  std::string what;     ///< "Invalid __global__ read of size 4 bytes"
  std::string kernel;   ///< "triton_poi_fused_add_embedding_0"; "" when the log names none
  std::string place;    ///< "+0x1a0" or "in file.py:25"
  std::string thread;   ///< "thread (0,0,0) in block (0,0,0)"
  std::string address;  ///< "Address 0x7f0000000190 is out of bounds"
  std::string nearest;  ///< "is 1 bytes after the nearest allocation at 0x7f0000000000 of size 400 bytes"
  uint64_t times = 1;   ///< threads of the same kernel and place that did the same
};

struct SanitizerLog {
  std::vector<SanitizerError>
      errors;             ///< in order of the log; the same error of other threads is counted, not repeated
  bool complete = false;  ///< the log ends with the tool's own summary
  uint64_t total = 0;     ///< errors by that summary
};

/// Reads what compute-sanitizer writes to --log-file, from any tool of it. Lines that are none of these are passed
/// over.
SanitizerLog parse_sanitizer_log(std::string_view text);

/// One line for people: "Invalid __global__ read of size 4 bytes in triton_...+0x1a0, thread ..., 96 threads".
std::string describe(const SanitizerError& error);

}  // namespace aotifuzz
