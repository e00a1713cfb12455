#include "core/verdict.h"

#include <array>

#include "core/check.h"

namespace aotifuzz {
namespace {

struct ClassName {
  VerdictClass cls;
  std::string_view name;
};

constexpr std::array<ClassName, 11> kClassNames = {{
    {VerdictClass::kWrongResult, "wrong-result"},
    {VerdictClass::kWrongMetadata, "wrong-metadata"},
    {VerdictClass::kInputChanged, "input-changed"},
    {VerdictClass::kUnstable, "unstable"},
    {VerdictClass::kRejectsLegal, "rejects-legal"},
    {VerdictClass::kMemoryFault, "memory-fault"},
    {VerdictClass::kCrash, "crash"},
    {VerdictClass::kHang, "hang"},
    {VerdictClass::kLeak, "leak"},
    {VerdictClass::kMissesError, "misses-error"},
    {VerdictClass::kAcceptsIllegal, "accepts-illegal"},
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

}  // namespace aotifuzz
