#pragma once

#include <vector>

#include "core/audit_probe.h"
#include "core/contract.h"

namespace aotifuzz {

/// Cases of one call, and what could not be made into one.
struct AuditCallProbes {
  std::vector<AuditProbe> probes;
  std::vector<AuditUntried> untried;
};

/// Ways of calling a package that neither sizes nor layouts are: one input fewer, one more, inputs on the other kind of
/// device, elements 2^31 and more from the start of their storage. From `base`, a legal case with plain values.
/// `gpu_here`: this machine has a GPU.
AuditCallProbes audit_call_probes(const Contract& contract, const Case& base, bool gpu_here);

}  // namespace aotifuzz
