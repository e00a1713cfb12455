#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "package/package_info.h"
#include "package/trace_records.h"

namespace aotifuzz {

/// A symbol of the export, and what it is.
struct TracedSymbol {
  std::string name;       ///< "s77", "u0"
  std::string source;     ///< "L['x'].size()[0]"; "" of what is known at run time only
  std::string dimension;  ///< "x.size(0)" as the contract names it; "" = it is none
  std::string range;      ///< "[2, int_oo]"
  std::string example;    ///< its number in the example inputs
  std::string line;       ///< "model.py:15: n = m.item()": unbacked, and the trace tells
};

/// A condition that export or the compiler took for granted from then on.
struct TracedGuard {
  Expr expr;              ///< over dimensions of inputs; over symbols where one is none
  std::string text;       ///< of it
  std::string line;       ///< the model's: "model.py:12: z = x + y"; "" = none
  bool compiler = false;  ///< inductor's own: export does not declare it
  int times = 1;
};

/// A size that was declared dynamic and became a number.
struct TracedSpecialisation {
  std::string symbol, dimension, value, reason, line;
};

/// Something that could not be decided at export, as it depends on values.
struct TracedDataDependent {
  std::string text, line;
};

struct TracedKernel {
  std::string name;
  std::vector<std::string> lines;  ///< of the model, by file and line
  bool by_name = false;            ///< found by the operators in its name: lines that may be its own
};

/// What a TORCH_TRACE log tells of one package. Plain values.
struct CompileTrace {
  std::string path;   ///< as given
  std::string torch;  ///< version; "" = the trace does not say (2.11 does not)
  std::string match;  ///< how it is known that it is of this package
  std::vector<TracedSymbol> symbols;
  std::vector<TracedGuard> guards;
  std::vector<TracedSpecialisation> specialisations;
  std::vector<TracedDataDependent> data_dependent;
  std::vector<TracedKernel> kernels;
  size_t lines = 0, unreadable = 0;
  std::vector<std::string> notes;

  const TracedKernel* find_kernel(const std::string& name) const;
};

/// Reads `path` (see read_trace_folder) and takes what belongs to `package`; of PackageInfo{} the last export and
/// compilation. Throws HarnessError when nothing can be read, and when what is there is of another model.
CompileTrace read_compile_trace(const std::string& path, const PackageInfo& package);
/// The same of logs that have been read; `path` is for messages.
CompileTrace compile_trace_of(const std::vector<TraceLog>& logs, const std::string& path, const PackageInfo& package);

/// "x.size(0) > 3 (model.py:4: if x.shape[0] > 3:)"
std::string guard_with_line(const TracedGuard& guard);

/// Recorded guards that `c` breaks, and ranges of symbols that it leaves: one text each, the model's before the
/// compiler's. What cannot be evaluated on inputs is none.
std::vector<std::string> broken_guards(const CompileTrace& trace, const Case& c);

/// The same of one size: "x.size(0)" being `value`, whatever the others are.
std::vector<std::string> broken_guards(const CompileTrace& trace, const std::string& dimension, int64_t value);

/// Guards that say what `condition` says (of the contract, over dimensions).
std::vector<std::string> guards_of(const CompileTrace& trace, const Expr& condition);

}  // namespace aotifuzz
