#pragma once

#include <string>
#include <vector>

#include "core/audit_report.h"
#include "core/case.h"

namespace aotifuzz {

/// One case that an audit runs to see whether the package stops it.
struct AuditProbe {
  AuditSubject subject = AuditSubject::kRelation;
  std::string item;   ///< as AuditItem::name: the one condition that the case breaks, or what it varies inside the contract
  std::string label;  ///< which way: "transposed", "f16", "x.size(0) = 7"
  int round = 0;      ///< 0 first: each condition is tried once before any is tried again
  Case input;
};

}  // namespace aotifuzz
