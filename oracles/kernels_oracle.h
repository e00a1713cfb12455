#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Each kernel call of the package against eager on the inputs that the call itself was given: what whole outputs hide
/// (masked, overwritten, multiplied by zero) is found too, and a wrong output gets the kernel that made it so.
///
/// Applies: legal input, a kernel map, and a case that was chosen for it (CaseContext::judge_kernels).
/// Fails:   wrong-result (fault), "wrong-result inside aten.add.Tensor": the op of the value that the first bad kernel
///          left behind.
/// Skips:   calls that could not be judged on this input, by reason.
class KernelsOracle final : public Oracle {
 public:
  std::string_view name() const override { return "kernels"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

/// A verdict about values that the first bad kernel explains, or may.
bool wants_kernel(const Verdict& verdict);

/// Adds to the verdicts that want_kernel() which kernel it was, or where the wrong value comes in, and takes the
/// kernels oracle's own failure out where another verdict already reports what it did.
void name_kernels(const RunRecords& runs, std::vector<Verdict>& verdicts);

}  // namespace aotifuzz
