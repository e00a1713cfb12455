#pragma once

#include <string>

#include "core/audit_report.h"

namespace aotifuzz {

/// An audit for people: the lines that differ, worst first, each with its case and guard; then a table of declared,
/// enforced and safe; then what was not tried.
std::string print_audit(const AuditReport& report);

/// The same as one JSON document, {"version": 1, "items": [...], ...}, without a newline at its end.
std::string audit_json(const AuditReport& report, int exit_code);

/// The same as a page that opens offline.
std::string audit_html(const AuditReport& report);

}  // namespace aotifuzz
