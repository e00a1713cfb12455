#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aotifuzz {

/// Never merged, never renamed; README has the table of meanings.
enum class VerdictClass {
  kWrongResult,
  kWrongMetadata,
  kInputChanged,
  kUnstable,
  kRejectsLegal,
  kMemoryFault,
  kCrash,
  kHang,
  kLeak,
  kMissesError,
  kAcceptsIllegal,
};
std::string_view verdict_class_name(VerdictClass cls);  ///< "wrong-result"
std::optional<VerdictClass> verdict_class_from_name(std::string_view name);
std::string_view verdict_class_meaning(VerdictClass cls);  ///< one sentence, for whoever reads a report
const std::vector<VerdictClass>& verdict_classes();        ///< all of them

enum class VerdictStatus { kPass, kFail, kSkip, kMistrusted };
std::string_view verdict_status_name(VerdictStatus status);

/// Why a failed verdict without a reference is a gap: what it accepts is half of what makes an input legal.
inline constexpr const char* kLegalityUnknown = "and without a reference nobody knows whether the input is legal";

/// What one oracle says about one case.
struct Verdict {
  std::string oracle;  ///< catalog key
  VerdictStatus status = VerdictStatus::kPass;
  std::optional<VerdictClass> cls;  ///< set when status is kFail
  bool fault = false;               ///< kFail: true = fault (legal input), false = gap
  /// kSkip, kMistrusted: a stable reason key that the summary counts ("random op: aten.rand.default").
  /// kFail: one sentence for people.
  std::string reason;
  /// kFail: "same bug" text: class, output or op, broken condition; never addresses, sizes or values. The reducer keeps
  /// it.
  std::string signature;
  /// kFail: what the verdict rests on, in print order: {"output", "1"}, {"index", "[0, 3]"}, {"expected", "3"}, ...
  /// kPass: {kNearness, "0.25"} where there was a difference that is permitted.
  std::vector<std::pair<std::string, std::string>> measures;
};

/// The measure of this name, the first of several; "" = there is none.
std::string measure(const Verdict& verdict, std::string_view name);

/// Measure of a passed comparison: how near its largest difference is to being a fault. Below 0.5: twice the number is
/// the share of what passes without a closer look; from 0.5 on: a closer look was taken, and 1 is what it permits.
inline constexpr const char* kNearness = "nearness";

/// Measure: where it happened, innermost first.
inline constexpr const char* kStack = "stack";
/// `stack`, which has one function a line, as that measure has it: on one line.
std::string stack_measure(std::string stack);

}  // namespace aotifuzz
