#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/package_info.h"

namespace aotifuzz {

/// What a generated kernel computes the indices of its elements in.
struct KernelIndexing {
  std::string kernel;
  int bits = 0;      ///< 64 or 32
  std::string says;  ///< what the text has: "int64_t", "xnumel: i32"
  /// The tensor of a call that has the most elements, as their number, where the contract lets it pass 2^31 - 1: over
  /// dimension names. None: no tensor does, or the kernel map does not say.
  std::optional<Expr> elements;
};

/// Of every kernel whose text is known and computes an index, in the package's order. Reads the archive; sizes need
/// `package.kernels`. Never throws.
std::vector<KernelIndexing> kernel_indexing(const PackageInfo& package);

/// Of one kernel's text, C++ or Triton: bits and what says so. 0 bits: it computes no index.
KernelIndexing indexing_of_text(std::string_view text);

}  // namespace aotifuzz
