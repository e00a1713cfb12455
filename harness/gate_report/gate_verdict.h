#pragma once

#include <string>
#include <vector>

#include "gate_report/source_lines.h"
#include "store/gate_record.h"

namespace aotifuzz {

/// One cause, with every symptom of it folded into one entry.
struct GateFault {
  std::string kind;
  std::string message;  ///< of the smallest sizes that show it
  SourceLine where;
  bool where_is_registration = false;  ///< no better place is known than the TORCH_LIBRARY block
  std::string sizes, layout, arguments;
  std::string expected, actual;
  std::string change;
  std::vector<std::string> also;  ///< other symptoms, one line each
  int seen = 1;                   ///< findings that were folded
};

enum class GateStatus { kOk, kFaults, kNotJudged };

struct OperatorVerdict {
  std::string name, schema;
  GateStatus status = GateStatus::kOk;
  std::string reason;  ///< of kNotJudged; beside faults: what was not looked at
  std::vector<GateFault> faults;
  std::vector<GateFault> preconditions;  ///< what arguments that nobody called legal did to the kernel
  std::vector<std::string> notes;
  std::string arguments;
  bool drawn_by_default = false;
  int calls = 0;                            ///< lines of its arguments that come from a program's calls
  std::vector<std::string> calls_not_used;  ///< why those of its calls that do not fit the library were left out
  long points = 0;
  double seconds = 0;
};

/// What all findings of a run on `library` come down to, operator by operator, in order of their names.
std::vector<OperatorVerdict> judge_operators(std::vector<GateOperator> operators, const std::string& library);

/// "ops.cpp:62 (pad_meta)": what is known of a place; "" when nothing is.
std::string place_text(const GateFault& fault);
/// The path without the folder that the command is run in.
std::string relative_path(const std::string& path);

}  // namespace aotifuzz
