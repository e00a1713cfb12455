#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/case.h"
#include "core/verdict.h"

namespace aotifuzz {

/// What an item of an audit is about.
enum class AuditSubject {
  kContract,
  kSize,
  kRelation,
  kLayout,
  kPlacement,
  kIndexing,  ///< elements and indices beyond what 32 bits hold
  kOverlap,
  kDtype,
  kRank,
  kCount,   ///< how many inputs
  kDevice,  ///< which kind of device they lie on
  kStorage,
  kScalar,
  kValues
};
std::string_view audit_subject_name(AuditSubject subject);  ///< "size"

/// How declared, enforced and safe differ.
enum class AuditWord {
  kUnsafe,     ///< accepted, and then a wrong result, touched memory or a death
  kUnjudged,   ///< accepted beyond a guard of the trace, and as the exported program: the model may do something else
  kTooStrict,  ///< legal and right, and refused
  kUnreached,  ///< declared, and never seen to work: the reference raises, or it was not tried
  kOk,
};
std::string_view audit_word_name(AuditWord word);  ///< "unsafe", "unjudged", "too strict", "unreached", "ok"

/// Whether the package runs with its input checks (AOTI_RUNTIME_CHECK_INPUTS=1). Off is what torch does by default.
enum class ChecksMode { kOff, kOn };

/// What would stop an input, ready to paste. Parts that do not exist for it are empty.
struct AuditGuard {
  /// Statements at the start of forward(). They stay in the compiled package when the program is exported with
  /// prefer_deferred_runtime_asserts_over_guards=True.
  std::vector<std::string> python;
  /// Dimensions that must be Dim.AUTO for that, each of its own: (input, dimension).
  std::vector<std::pair<std::string, int>> automatic;
  /// Dimensions whose example size must change, so that export does not pin them: (input, dimension) to size.
  std::vector<std::pair<std::pair<std::string, int>, int64_t>> example;
  std::string caller;  ///< the same in Python at the caller, before the package is called
  std::string cpp;     ///< the same in C++ at the caller: "TORCH_CHECK(...);"
  std::string note;    ///< what else helps, or why nothing in the model does

  friend bool operator==(const AuditGuard&, const AuditGuard&) = default;
};

/// One difference between what is declared, enforced and safe.
struct AuditLine {
  AuditWord word = AuditWord::kOk;
  bool inside = false;               ///< the contract allows these inputs
  std::string what;                  ///< "65 to 129 accepted, wrong result"
  std::optional<Verdict> verdict;    ///< kUnsafe: the worst that was seen
  Case input;                        ///< kUnsafe, kUnjudged, kTooStrict: shows it
  bool refused_with_checks = false;  ///< kUnsafe, kUnjudged: the same input is refused when input checks are on
  int reproduced = 0, tries = 0;     ///< kUnsafe: in fresh processes
  bool one_minimal = false;          ///< kUnsafe: no simpler case shows the same
  std::string folder;                ///< kUnsafe: finding folder, replayable; "" = not written
  AuditGuard guard;                  ///< kUnsafe, kUnjudged
  /// Recorded guards of the compile-time trace that `input` breaks, the item's own first: "x.size(0) > 3 at
  /// model.py:6".
  std::vector<std::string> because;
};

/// One symbol, relation, layout, dtype...: what is declared of it, what the checks refuse, what was seen to be safe.
struct AuditItem {
  AuditSubject subject = AuditSubject::kSize;
  std::string name;  ///< "x.size(0)", "idx.size(1) == x.size(1)", "x: strides as exported (dense)"
  std::string declared, enforced_off, enforced_on, safe;
  std::vector<AuditLine> lines;  ///< empty: ok
  int cases = 0;                 ///< run for it

  AuditWord word() const;  ///< the worst of its lines
};

/// Something that was not tried, and why.
struct AuditUntried {
  std::string what, why;
};

struct AuditReport {
  std::string package;
  std::string torch;
  ChecksMode checks = ChecksMode::kOff;  ///< what `unsafe` was judged with
  bool has_reference = true;
  std::vector<AuditItem> items;
  std::vector<AuditUntried> untried;
  std::map<std::string, int> not_judged;  ///< reason -> cases on which nobody could judge
  std::vector<std::string> trace_notes;   ///< what the compile-time trace lacks
  std::vector<std::string> unconfirmed;   ///< seen once, and not each time in fresh processes
  int reduced = 0;                        ///< unsafe lines whose case is as simple as it gets
  int reduction_runs = 0;                 ///< that this took
  int reduction_cut_short = 0;            ///< unsafe lines for whose reduction there was not time enough
  int reduction_unconfirmed = 0;          ///< unsafe lines left as they were: the simpler case does not come each time
  int cases = 0;
  int judged = 0;  ///< of them, by anybody
  double seconds = 0;
  bool out_of_time = false;

  int count(AuditWord word) const;  ///< lines of that word; for kOk: items
};

}  // namespace aotifuzz
