#pragma once

#include <vector>

#include "core/audit_report.h"
#include "package/index_width.h"
#include "package/package_info.h"

namespace aotifuzz {

/// What the package's own text says of the width of its indices, without a run: one item for all kernels with 64 bits,
/// one for each with 32, whose line says from how many elements on they wrap.
std::vector<AuditItem> index_width_items(const std::vector<KernelIndexing>& kernels);

/// Why that is not known of some kernels; empty: it is of all.
std::vector<AuditUntried> index_width_untried(const PackageInfo& info, const std::vector<KernelIndexing>& kernels);

}  // namespace aotifuzz
