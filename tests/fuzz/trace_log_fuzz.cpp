#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "package/compile_trace.h"
#include "package/compile_trace_report.h"
#include "package/trace_records.h"

// Any text as a TORCH_TRACE log, and what is made of it without a package.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const aotifuzz::CompileTrace trace = aotifuzz::compile_trace_of({aotifuzz::read_trace_log(in)}, "log", {});
  std::ostringstream out;
  aotifuzz::print_compile_trace(trace, out);
  aotifuzz::broken_guards(trace, "x.size(0)", 1);
  return 0;
}
