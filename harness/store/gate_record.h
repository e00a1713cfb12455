#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

/// What the gate's worker tells its parent: one JSON object a line, each about one operator, in any order between
/// operators. A process that judges an operator may die at any moment; what it said before stays true.
namespace aotifuzz {

/// One return address of a stack. The parent finds the source line (gate_report/source_lines.h).
struct GateFrame {
  std::string library;  ///< path of the file that holds the code
  uint64_t offset = 0;  ///< in that file's address space, of the call itself and not what follows it
  std::string symbol;   ///< demangled, where the dynamic linker knows one; may be ""
};

/// One symptom of a fault, as it was seen.
struct GateFinding {
  std::string kind;               ///< of fault_kinds.h
  std::string message;            ///< one sentence
  std::string sizes;              ///< "B=7, D=11"
  std::string layout;             ///< "contiguous", "transposed", "gaps"
  std::string arguments;          ///< "x=f32[B,D] k=$k"
  std::string expected;           ///< what the meta says, with symbols where it has some
  std::string actual;             ///< what the kernel did
  std::string change;             ///< what to do, where more is known than of the kind; may be ""
  int output = -1;                ///< which output it is about
  int64_t weight = 0;             ///< sum of the sizes: the smallest one is shown
  bool precondition = false;      ///< the kernel raised or died on arguments that nobody called legal
  std::vector<GateFrame> frames;  ///< innermost first, in the user's libraries
  std::string file;  ///< where the operator's kernel or schema is registered: for when the frames lead nowhere
  int line = 0;
  std::string function;  ///< not "": `file` and `line` are the code itself, a Python function's

  bool of_kernel() const {
    return kind.starts_with("kernel-") || kind == "hidden-mutation" || kind == "undeclared-alias" ||
           kind == "one-sided-error";
  }
};

/// What meta and kernel said at one point.
struct GateValue {
  std::string meta, kernel;
};

/// All about one operator. Each line carries a part; merge() adds it up.
struct GateOperator {
  std::string name;
  std::string schema;
  std::string not_judged;         ///< why; "" = judged
  bool drawn_by_default = false;  ///< no line of a spec names the operator
  std::string arguments;          ///< the spec lines that were used
  std::vector<GateFinding> findings;
  std::vector<std::string> notes;
  std::map<std::string, std::string> expressions;  ///< by alternative, layout and output
  std::vector<std::string> guards;
  std::map<std::string, GateValue> values;  ///< by alternative, layout and sizes
  std::vector<int64_t> mined;               ///< constants of guards and expressions
  int64_t points = 0;                       ///< at which meta and kernel were compared
  int64_t refused = 0;                      ///< at which the kernel raised
  double seconds = 0;
  int begun = 0;                            ///< processes: one for each line of the spec
  int ended = 0;                            ///< those that said that they are through
  int calls = 0;                            ///< of its lines, those that come from a program's calls
  std::vector<std::string> calls_not_used;  ///< which, and why

  void merge(GateOperator&& part);
  bool is_through() const { return ended > 0 && ended >= begun; }
};

struct GateLibrary {
  std::string path;
  int operators = 0;
  double load_seconds = 0;
};

struct GateMessage {
  enum class Kind { kLibrary, kOperator, kDone, kFatal } kind = Kind::kDone;
  GateLibrary library;
  GateOperator op;
  std::string what, where, to_do;  ///< of kFatal
};

std::string print_gate_message(const GateMessage& message);
Result<GateMessage> parse_gate_message(std::string_view line);

}  // namespace aotifuzz
