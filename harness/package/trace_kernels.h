#pragma once

#include <set>
#include <string>
#include <vector>

#include "package/compile_trace.h"
#include "package/package_info.h"
#include "package/trace_records.h"

namespace aotifuzz {

/// One compilation by inductor that a trace holds. What points into the log is null where the log lacks it.
struct TracedCompilation {
  size_t begin = 0;  ///< in the log
  std::vector<const TraceRecord*> guards;
  const TraceRecord *wrapper = nullptr, *kernel_code = nullptr, *stacks = nullptr, *graph = nullptr;
};

/// Generated kernels ("cpp_fused_add_0", "triton_poi_fused_add_0") in the recorded code.
std::set<std::string> kernel_names(const TracedCompilation& compilation);
/// And of a package.
std::set<std::string> kernel_names(const PackageInfo& package);

/// Does the package hold the file that this compilation wrote?
bool is_wrapper_of(const TracedCompilation& compilation, const PackageInfo& package);

/// Kernels with the model's lines: as recorded (INDUCTOR_PROVENANCE=1); without that record, lines of the graph whose
/// operators the kernel's name has.
std::vector<TracedKernel> traced_kernels(const TracedCompilation& compilation, const TorchFolders& torch);

std::string torch_version_of(const TraceRecord& record);

}  // namespace aotifuzz
