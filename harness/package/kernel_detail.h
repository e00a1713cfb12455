#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/case.h"
#include "core/memory_fault.h"
#include "package/package_info.h"

namespace aotifuzz {

/// Measures of a verdict: name, value.
using Measures = std::vector<std::pair<std::string, std::string>>;

/// Where a kernel's generated text stands.
struct KernelSource {
  std::string where;  ///< "x.kernel.cpp:4-39", a member of the archive; of Triton's kernels their name
  std::string text;
};

/// Text of a kernel, from the archive or the kernel map; nullopt when neither has it. Never throws: an archive that
/// cannot be read has none.
std::optional<KernelSource> kernel_source(const PackageInfo& package, const std::string& kernel);

/// The generated line at which a package died, by the first frame of a stack that names one ("cpp_fused_add_0 (package,
/// kernel.cpp:17)"): "kernel.cpp:17: auto tmp0 = in_ptr0[...];". Without its text where the archive does not have it;
/// "" = no frame names a line. Never throws.
std::string crash_line(const PackageInfo& package, const std::string& stack);

/// The kernel that a verdict's measures name: "cpp_fused_add_0", also of "launch 2: triton_poi_fused_add_0"; "" = none.
std::string named_kernel(const Measures& measures);

/// What else the kernel map knows of the kernel that `measures` name: the model's line, the ops that it implements, its
/// arguments with symbolic sizes and with those of `c`. Empty without a map, or for a kernel that it does not know.
/// Needs `package.kernels`.
Measures kernel_measures(const PackageInfo& package, const Case& c, const Measures& measures);

/// What the touched buffer holds, "add_4 (aten.add.Tensor)", by the argument of the running call that points into it;
/// "" = the map does not say.
std::string touched_value(const KernelMap& map, const MemoryFault& fault);

}  // namespace aotifuzz
