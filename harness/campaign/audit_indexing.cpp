#include "campaign/audit_indexing.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotifuzz {

std::vector<AuditItem> index_width_items(const std::vector<KernelIndexing>& kernels) {
  std::vector<AuditItem> out;
  const auto wide = std::count_if(kernels.begin(), kernels.end(), [](const auto& one) { return one.bits == 64; });
  AuditItem item;
  item.subject = AuditSubject::kIndexing;
  item.enforced_off = item.enforced_on = "-";
  if (wide > 0) {
    item.name = fmt::format("indices of {} generated kernel{}", wide, wide == 1 ? "" : "s");
    item.declared = "-";
    item.safe = "64 bits";
    out.push_back(item);
  }
  for (const KernelIndexing& one : kernels) {
    if (one.bits != 32) continue;
    item.name = "indices of " + one.kernel;
    item.lines.clear();
    item.safe = fmt::format("32 bits ({})", one.says);
    item.declared = one.elements ? one.elements->text() + " elements" : "no more than 2^31 - 1 elements, or not known";
    if (one.elements) {
      AuditLine line;
      line.word = AuditWord::kUnreached;
      line.inside = true;
      line.what = fmt::format(
          "indices of {} have 32 bits ({}): {} may pass 2^31 - 1 and was not tried there, which takes gigabytes",
          one.kernel, one.says, one.elements->text());
      item.lines.push_back(std::move(line));
    }
    out.push_back(item);
  }
  return out;
}

std::vector<AuditUntried> index_width_untried(const PackageInfo& info, const std::vector<KernelIndexing>& kernels) {
  if (!info.compiled) return {};
  const auto generated = std::count_if(info.compiled->kernels.begin(), info.compiled->kernels.end(),
                                       [](const KernelInfo& kernel) { return !kernel.is_extern; });
  const auto known = static_cast<std::ptrdiff_t>(kernels.size());
  if (known >= generated) return {};
  return {{fmt::format("width of the indices of {} generated kernel{}", generated - known,
                       generated - known == 1 ? "" : "s"),
           "no loop and no text of them in the package says it"}};
}

}  // namespace aotifuzz
