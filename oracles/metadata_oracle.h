#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Shape of the results: number of outputs, dtype, sizes, device, and memory shared with inputs, on legal inputs.
///
/// Fails:      wrong-metadata (fault), one verdict for the first output that is wrong.
/// Mistrusted: strides that differ (sizes of 0 and 1 have none) and memory shared between outputs: accepted differences
///             that a consumer may still care about.
/// Skips:      no reference, a run did not finish, an illegal input.
class MetadataOracle final : public Oracle {
 public:
  std::string_view name() const override { return "metadata"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
