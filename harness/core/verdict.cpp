#include "core/verdict.h"

#include <array>

#include "core/check.h"

namespace aotifuzz {
namespace {

struct ClassName {
  VerdictClass cls;
  std::string_view name, meaning;
};

constexpr std::array<ClassName, 11> kClassNames = {{
    {VerdictClass::kWrongResult, "wrong-result",
     "The compiled package returns other values than eager, beyond what any legal order of arithmetic gives."},
    {VerdictClass::kWrongMetadata, "wrong-metadata",
     "The compiled package returns another size, stride, dtype, device or aliasing than eager."},
    {VerdictClass::kInputChanged, "input-changed", "The compiled package leaves its inputs otherwise than eager does."},
    {VerdictClass::kUnstable, "unstable",
     "Two runs of the compiled package on the same inputs differ, or depend on what else it is called for."},
    {VerdictClass::kRejectsLegal, "rejects-legal",
     "The compiled package refuses inputs that the program declares and eager accepts."},
    {VerdictClass::kMemoryFault, "memory-fault", "The compiled package reads or writes outside its buffers."},
    {VerdictClass::kCrash, "crash", "The compiled package ends its process with a signal."},
    {VerdictClass::kHang, "hang", "The compiled package does not end."},
    {VerdictClass::kLeak, "leak", "Memory grows with each run of the compiled package."},
    {VerdictClass::kMissesError, "misses-error", "Eager raises an error; the compiled package returns something."},
    {VerdictClass::kAcceptsIllegal, "accepts-illegal",
     "The compiled package accepts inputs outside what the program declares."},
}};

}  // namespace

std::string_view verdict_class_name(VerdictClass cls) {
  for (const ClassName& row : kClassNames)
    if (row.cls == cls) return row.name;
  AOTIFUZZ_CHECK(false) << static_cast<int>(cls);
  return "";
}

std::optional<VerdictClass> verdict_class_from_name(std::string_view name) {
  for (const ClassName& row : kClassNames)
    if (row.name == name) return row.cls;
  return std::nullopt;
}

std::string_view verdict_class_meaning(VerdictClass cls) {
  for (const ClassName& row : kClassNames)
    if (row.cls == cls) return row.meaning;
  AOTIFUZZ_CHECK(false) << static_cast<int>(cls);
  return "";
}

const std::vector<VerdictClass>& verdict_classes() {
  static const std::vector<VerdictClass> all = [] {
    std::vector<VerdictClass> out;
    for (const ClassName& row : kClassNames) out.push_back(row.cls);
    return out;
  }();
  return all;
}

std::string_view verdict_status_name(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::kPass:
      return "pass";
    case VerdictStatus::kFail:
      return "fail";
    case VerdictStatus::kSkip:
      return "skip";
    case VerdictStatus::kMistrusted:
      return "mistrusted";
  }
  AOTIFUZZ_CHECK(false) << static_cast<int>(status);
  return "";
}

std::string measure(const Verdict& verdict, std::string_view name) {
  for (const auto& [key, value] : verdict.measures)
    if (key == name) return value;
  return {};
}

std::string stack_measure(std::string stack) {
  for (size_t at = stack.find('\n'); at != std::string::npos; at = stack.find('\n', at)) stack.replace(at, 1, " < ");
  return stack;
}

}  // namespace aotifuzz
