#include "store/python_calls.h"

#include <sstream>

namespace aotifuzz {
namespace {

constexpr const char* kConstants = R"py(
constants = {**program.state_dict, **program.constants}
halves = {fqn: value * 0.5 for fqn, value in constants.items() if isinstance(value, torch.Tensor) and value.is_floating_point()}
halves = {fqn: halves[fqn].contiguous() for fqn in package.get_constant_fqns() if fqn in halves}
)py";

constexpr const char* kUpdate = R"py(package.load_constants(halves, check_full_update=False)
)py";

constexpr const char* kSwap =
    R"py(everything = {fqn: value for fqn, value in constants.items() if fqn in package.get_constant_fqns()}
package.load_constants({**everything, **halves}, check_full_update=False, use_inactive=True)
package.loader.swap_constant_buffer()
)py";

constexpr const char* kEagerConstants = R"py(
for fqn, value in halves.items():
    where = program.state_dict if fqn in program.state_dict else program.constants
    where[fqn] = torch.nn.Parameter(value) if isinstance(where[fqn], torch.nn.Parameter) else value
)py";

constexpr const char* kCallers = R"py(

def caller(number):
    makers = [%MAKERS%]
    outputs = None
    for turn in range(%ROUNDS% * len(makers)):
        make = makers[(turn + number) % len(makers)]
        if make is make_inputs:
            outputs = flat(compiled(*make()))
        else:
            compiled(*make())
    return outputs


import concurrent.futures

with concurrent.futures.ThreadPoolExecutor(%CALLERS%) as pool:
    for number, outputs in enumerate(pool.map(caller, range(%CALLERS%))):
        runs[f"caller {number + 1} of %CALLERS%"] = "values", outputs, make_inputs()
)py";

constexpr const char* kMany = R"py(

import ctypes
import time


class MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def bytes_in_use():
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = MallocInfo
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def many(times, seconds=20):
    """How many calls were made: fewer where each takes long."""
    until = time.monotonic() + seconds
    for made in range(1, times + 1):
        inputs = make_inputs()
        try:
            compiled(*inputs)
        except Exception:
            pass  # a refusal must not lose memory either
        if time.monotonic() > until:
            break
    return made


# Many more than it took in C++: Python's own objects come and go in between.
many(%RUNS%)
before = bytes_in_use()
made = many(50 * %RUNS%)
grown = (bytes_in_use() - before) / made
print(f"memory in use grows by {grown:.0f} bytes with each call")
if grown >= 1:
    found.append(f"memory in use grows by {grown:.0f} bytes with each call")
)py";

std::string replaced(std::string text, const std::string& key, const std::string& value) {
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
    text.replace(at, key.size(), value);
  return text;
}

std::string maker(size_t number) { return "make_inputs_then_" + std::to_string(number); }

}  // namespace

std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string line, out;
  while (std::getline(lines, line)) out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

PythonCalls python_calls(const Case& c, const std::vector<std::string>& then_python, const std::string& result,
                         bool has_eager) {
  PythonCalls out;
  std::string makers = "make_inputs";
  for (size_t n = 0; n < then_python.size(); ++n) {
    out.makers += "\n\ndef " + maker(n) + "():\n" + indented(then_python[n]) + result;
    makers += ", " + maker(n);
    out.between +=
        "        for _ in range(" + std::to_string(c.then[n].times) + "):\n            compiled(*" + maker(n) + "())\n";
  }
  if (!out.between.empty())
    out.between = "    if number == 1:  # the same package is called for something else\n" + out.between;
  if (c.callers > 1)
    out.callers = replaced(replaced(replaced(kCallers, "%MAKERS%", makers), "%CALLERS%", std::to_string(c.callers)),
                           "%ROUNDS%", std::to_string(kCallerRounds));
  if (c.runs >= kLeakRunsLeast) out.many = replaced(kMany, "%RUNS%", std::to_string(c.runs));
  if (c.constants == CaseConstants::kExported) return out;
  if (!has_eager) {
    out.constants =
        "# the case gives the package other weights: without the exported program they are not known here\n";
    return out;
  }
  out.constants =
      std::string(kConstants) + (c.constants == CaseConstants::kSwapped ? kSwap : kUpdate) + kEagerConstants;
  return out;
}

}  // namespace aotifuzz
