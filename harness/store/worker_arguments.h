#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/kernel_trace.h"

namespace aotifuzz {

/// Whose memory tensors lie in.
enum class AllocatorMode {
  kGuard,    ///< against inaccessible pages
  kCaching,  ///< torch's own, as in production
  kNoCache,  ///< of a device: torch's own without its cache, each launch waited for, as debugging guides prescribe
};
std::string_view allocator_mode_name(AllocatorMode mode);  ///< "guard", "caching", "nocache"
std::optional<AllocatorMode> allocator_mode_from_name(std::string_view name);

std::string_view trace_level_name(TraceLevel level);  ///< "names", "stats", "values"
std::optional<TraceLevel> trace_level_from_name(std::string_view name);

/// How a worker is started: `aotifuzz-worker --package P [--model M] [--reference R] [--ops LIB]... [--memory-mib N]
/// [--allocator guard|caching|nocache] [--device cuda:N [--spares N]] [--kernels-every N]
/// [--trace names|stats|values [--trace-kernel NAME]... [--save FOLDER]]`, or with `--planted yes` in place of the package.
/// The three descriptors are fixed: a package is native code that may print to stdout, so stdout is not the pipe.
struct WorkerArguments {
  static constexpr int kRequestFd = 3;   ///< worker reads
  static constexpr int kMessageFd = 4;   ///< worker writes
  static constexpr int kRecorderFd = 5;  ///< memfd of sizeof(FlightRecorder) bytes, made by the parent; mmap it shared

  std::string package;
  std::string model;      ///< "" = the only one, or "model"
  std::string reference;  ///< "" = in the package, if there
  std::vector<std::string> ops;
  int64_t memory_mib = 0;  ///< 0 = no limit
  AllocatorMode allocator = AllocatorMode::kGuard;
  std::string device;    ///< "" = cpu, else "cuda:0"
  int spares = 0;        ///< of a device: processes kept loaded beside the one that serves; 0 = none is forked at all
  static constexpr int64_t kKernelsEvery = 16;
  int64_t kernels_every = kKernelsEvery;  ///< one case in so many is judged kernel by kernel; 0 = only suspects
  std::optional<TraceLevel> trace = {};    ///< instead of judging cases, tell what their kernels do
  std::vector<std::string> trace_kernels;  ///< names, or parts of them; empty: all
  std::string save;                        ///< folder for the tensors of a trace; "": they are not kept
  bool planted = false;  ///< serve core/planted.h instead of a package

  bool is_guarded() const { return allocator == AllocatorMode::kGuard; }
  std::vector<std::string> print() const;  ///< arguments after the program's name
};
Result<WorkerArguments> parse_worker_arguments(const std::vector<std::string>& arguments);

}  // namespace aotifuzz
