#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotifuzz {

/// How much of each tensor a trace tells: each level includes those before it.
enum class TraceLevel : uint8_t {
  kNames,   ///< kernels in order, tensors with dtype and sizes
  kStats,   ///< least, greatest, mean, how many NaN and infinities; local and inherited errors
  kValues,  ///< the first elements
};

/// A tensor that a kernel was given or left behind.
struct TraceTensor {
  std::string name;   ///< of the argument: "in_ptr0"; "" = not known
  std::string value;  ///< of the post-grad graph that it holds; "" = not known
  std::string op;     ///< that makes the value
  std::string dtype;  ///< "f32"
  std::vector<int64_t> sizes;
  uint64_t address = 0;
  bool has_stats = false;
  int64_t elements = 0, nans = 0, infinities = 0;
  double least = 0, greatest = 0, mean = 0;  ///< of the finite elements; 0 when there is none
  std::string first_values;                  ///< TraceLevel::kValues: "1, 2.5, nan, ..."
  std::string file;                          ///< it was saved to
  std::string error;                         ///< against eager; "" = not judged
};

/// One kernel call of a run.
struct TraceCall {
  int ordinal = 0;  ///< in the run, from 1
  std::string kernel;
  std::string launch;  ///< on a device: "grid 4x1x1, block 128x1x1"
  std::vector<TraceTensor> given, left;
  std::string verdict;  ///< "right", "WRONG: ...", "not judged: ..."; "" = no map
};

}  // namespace aotifuzz
