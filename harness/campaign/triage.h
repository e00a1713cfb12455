#pragma once

#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "core/case.h"
#include "core/contract.h"
#include "core/verdict.h"
#include "package/package_info.h"

namespace aotifuzz {

/// What triage must know of the package. Valid as long as the contract is.
struct TriageContext {
  const Contract& contract;
  bool has_reference = true;             ///< false: no ExportedProgram, so the contract alone says what is legal
  const PackageInfo* package = nullptr;  ///< null: of kernels only the names are known
};

/// Every verdict on one case. Those of the oracles come from the worker; crash and hang are judged here, because a
/// process that ended cannot judge itself. A death before the reference was done, running out of memory, and a lost
/// worker are no findings: they become skips with a reason.
std::vector<Verdict> judge_result(const TriageContext& context, const Case& c, const CaseResult& result);

/// "Same bug": section, class and signature. Two failed verdicts with the same key are one finding.
std::string finding_key(const Verdict& verdict);

/// The kernel that a failed verdict puts the error down to and the value that it leaves wrong there; "" = it names
/// none.
std::string culprit_of(const Verdict& verdict);
/// Does it speak of a kernel's value that no output of the package shows?
bool is_hidden(const Verdict& verdict);

/// The first failed verdict with that key; null when there is none.
const Verdict* find_failed(const std::vector<Verdict>& verdicts, const std::string& key);

/// Order of findings in reports: faults before gaps; in each, what touches memory or ends the process leads. Smaller is
/// first.
int finding_rank(const Verdict& verdict);

}  // namespace aotifuzz
