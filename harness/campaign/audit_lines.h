#pragma once

#include <functional>
#include <string>
#include <vector>

#include "campaign/audit_runner.h"
#include "campaign/audit_sizes.h"
#include "core/audit_report.h"
#include "package/package_info.h"

namespace aotifuzz {

/// What was seen of one item, before it is put in words.
struct AuditEvidence {
  AuditSubject subject = AuditSubject::kRelation;
  std::string item;
  std::vector<AuditAnswer> answers;
};

/// A line that must be confirmed before it is believed: candidates, the likeliest first.
struct AuditSuspicion {
  AuditLine line;  ///< guard and words are there, verdict and case are not
  std::vector<AuditAnswer> candidates;
  std::function<bool(const Case&)> shows;  ///< whether a simpler case is still about the row; null: any is
};

/// An item and what is suspected of it.
struct AuditDraft {
  AuditItem item;
  std::vector<AuditSuspicion> suspicions;
};

/// Of a condition that each of the answers breaks, or, of placement and of the contract itself, keeps.
AuditDraft draft_item(const PackageInfo& info, const AuditEvidence& evidence, ChecksMode mode);

/// Of a size along which values were tried. `base_fails`: the legal case that it was varied from fails already, so
/// that values which fail say nothing of this size.
AuditDraft draft_axis(const PackageInfo& info, const AuditAxis& axis, ChecksMode mode, bool base_fails);

/// Compiled checks that speak of this item, as inspect prints them; empty: none.
std::vector<std::string> checks_of(const PackageInfo& info, const std::string& item);

}  // namespace aotifuzz
