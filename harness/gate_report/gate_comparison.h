#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gate_report/gate_verdict.h"
#include "gate_report/gate_worker.h"

namespace aotifuzz {

/// What a change of the library does to one operator. The worst that applies.
enum class ChangeKind {
  kUnsound,      ///< the meta was right and is wrong now
  kSpecialised,  ///< the meta turns a size into a number and did not before
  kBroken,       ///< any other fault that was not there
  kRemoved,
  kNarrowed,  ///< the meta raises at sizes that it accepted
  kSchema,    ///< another schema
  kChanged,   ///< meta and kernel make something else, and agree
  kWidened,   ///< the meta accepts sizes at which it raised
  kFixed,     ///< faults are gone, and what is made is the same
  kEqual,     ///< written in another way, the same at every size that was tried
  kAdded,
};
const char* change_name(ChangeKind kind);

struct OperatorChange {
  std::string name;
  ChangeKind kind = ChangeKind::kEqual;
  std::string schema_before, schema_after;           ///< "" where the operator is not there; only where they differ
  std::string expression_before, expression_after;   ///< of the first output whose sizes are written differently
  std::vector<std::string> guards_gone, guards_new;  ///< conditions on sizes
  long points = 0, differing = 0;                    ///< at which both were asked, and made something else
  std::string first_sizes;                           ///< the first of those
  GateValue first_before, first_after;
  std::vector<GateFault> broken;   ///< faults that were not there before
  std::vector<std::string> fixed;  ///< kinds of faults that are gone
};

struct GateComparison {
  std::vector<OperatorChange> changes;    ///< only operators that changed, worst first
  std::vector<OperatorVerdict> verdicts;  ///< of the new library
  long points = 0;
  size_t operators = 0;  ///< in both

  bool made_worse() const;
  /// The new library's verdicts with only the faults that are new.
  std::vector<OperatorVerdict> worse_only() const;
};

/// Runs both libraries, each in a process of its own, on the same arguments: sizes near the constants in either's
/// conditions are tried on both. Throws HarnessError when one of them cannot be loaded.
GateComparison compare_libraries(GateRequest before, GateRequest after);
/// The same from finished runs.
GateComparison compare_runs(GateRun before, GateRun after);

/// `all`: also faults that were there before.
std::string comparison_text(const GateComparison& comparison, bool all);
std::string comparison_json(const std::string& base, const std::string& library, const GateComparison& comparison,
                            int exit_code);

}  // namespace aotifuzz
