#include "campaign/triage.h"

#include <array>
#include <cstdio>

#include "package/kernel_detail.h"

namespace aotifuzz {
namespace {

/// As worker/cuda/cuda_error.cpp names it.
constexpr std::string_view kDeviceAssert = "device-side assert";

Verdict skip(std::string oracle, std::string reason) {
  Verdict verdict;
  verdict.oracle = std::move(oracle);
  verdict.status = VerdictStatus::kSkip;
  verdict.reason = std::move(reason);
  return verdict;
}

bool speaks_of_heap_damage(const std::string& words) {
  // glibc's own messages when its bookkeeping was overwritten (malloc/malloc.c).
  for (const char* phrase : {"free():", "malloc():", "realloc():", "munmap_chunk():", "corrupted", "double free",
                             "unlink", "malloc_consolidate", "invalid pointer"})
    if (words.find(phrase) != std::string::npos) return true;
  return false;
}

std::string last_line(const std::string& words) {
  const size_t newline = words.find_last_of('\n');
  std::string line = newline == std::string::npos ? words : words.substr(newline + 1);
  if (line.size() > 200) line.resize(200);
  return line;
}

std::string hex(uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

/// What ended the process, for signatures: stable, without addresses and sizes.
std::string cause(const WorkerDeath& death) {
  switch (death.kind) {
    case WorkerDeath::Kind::kHang:
      return "hang";
    case WorkerDeath::Kind::kDeviceFault:
      return death.device_error;
    case WorkerDeath::Kind::kExit:
      return "exit status " + std::to_string(death.status);
    default:
      return signal_name(death.signal);
  }
}

std::string sentence(const WorkerDeath& death, bool in_package) {
  const bool device = death.kind == WorkerDeath::Kind::kDeviceFault;
  if (death.kind == WorkerDeath::Kind::kHang) return "the package does not end within the limit";
  std::string text;
  if (device && death.memory_fault)
    text = "the package touches device memory that is not its own (" + cause(death) + ")";
  else if (device)
    text = "the package's work on the device ends with: " + cause(death);
  else
    text = "the package ends its process with " + cause(death);
  if (!in_package) text += " after its run, which points to damaged memory";
  if (device && !death.step.empty()) text += ", in " + death.step;
  return text;
}

/// "" when the death says something about the package, else why it does not.
std::string why_not_judged(const TriageContext& context, const WorkerDeath& death) {
  const bool hang = death.kind == WorkerDeath::Kind::kHang;
  switch (death.kind) {
    case WorkerDeath::Kind::kLost:
      return "the worker was lost";
    case WorkerDeath::Kind::kOutOfMemory:
      return "out of memory";
    default:
      break;
  }
  switch (death.stage) {
    case Stage::kIdle:
    case Stage::kParse:
    case Stage::kMaterialise:
      return hang ? "making the inputs took too long" : "the process ended while making the inputs";
    case Stage::kReference:
      return hang ? "reference timed out" : "reference crashed";
    case Stage::kSubject:
    case Stage::kSubjectAgain:
      break;
    case Stage::kReferee:
    case Stage::kJudge:
    case Stage::kTeardown:
      if (hang) return "judging took too long";
      // The referee runs other code than the package, so its own death is not the package's, unless the heap was hit.
      if (death.stage == Stage::kReferee && !speaks_of_heap_damage(death.last_words)) return "referee crashed";
      break;
  }
  if (context.has_reference && !death.reference_done) return hang ? "reference timed out" : "reference crashed";
  // A device has no exceptions: an assertion is how a kernel refuses what the reference refuses too.
  if (death.kind == WorkerDeath::Kind::kDeviceFault && death.device_error == kDeviceAssert && context.has_reference &&
      !death.reference_accepts)
    return "the package asserts where the reference raises";
  return "";
}

/// The line of the generated source that the verdict's stack leads to.
void add_generated_line(const TriageContext& context, Verdict* verdict) {
  const std::string stack = measure(*verdict, kStack);
  if (!context.package || stack.empty()) return;
  if (std::string line = crash_line(*context.package, stack); !line.empty())
    verdict->measures.emplace_back("generated line", std::move(line));
}

/// What is known of any death, whatever its class.
void add_measures(const TriageContext& context, const WorkerDeath& death, Verdict* verdict) {
  verdict->measures.emplace_back("stage", std::string(stage_name(death.stage)));
  if (!death.step.empty() && !death.memory)
    verdict->measures.emplace_back(death.step_is_kernel ? "kernel" : "step", death.step);
  std::string given;
  for (const DeviceBuffer& buffer : death.device_buffers)
    if (buffer.is_argument) given += (given.empty() ? "" : "; ") + memory_buffer_text(buffer.buffer);
  if (!given.empty()) verdict->measures.emplace_back("buffers of the launch", given);
  if (death.fault_address) verdict->measures.emplace_back("fault address", hex(death.fault_address));
  if (!death.stack.empty()) verdict->measures.emplace_back(kStack, stack_measure(death.stack));
  add_generated_line(context, verdict);
  if (context.has_reference)
    verdict->measures.emplace_back("reference", death.reference_accepts ? "finished" : "raised an error");
  if (!death.last_words.empty()) verdict->measures.emplace_back("last words", last_line(death.last_words));
}

Verdict judge_death(const TriageContext& context, const Case& c, const WorkerDeath& death) {
  const bool hang = death.kind == WorkerDeath::Kind::kHang;
  const std::string oracle = hang ? "hang" : death.memory_fault ? "memory" : "crash";
  if (std::string reason = why_not_judged(context, death); !reason.empty()) return skip(oracle, std::move(reason));

  const std::vector<Violation> broken = violations(context.contract, c);
  const bool refused = context.has_reference && !death.reference_accepts;
  const bool in_package = death.stage == Stage::kSubject || death.stage == Stage::kSubjectAgain;
  if (death.memory) {
    MemoryFault fault = *death.memory;
    if (context.package && context.package->kernels) fault.value = touched_value(*context.package->kernels, fault);
    Verdict verdict = memory_fault_verdict(fault, {broken, context.has_reference, death.reference_accepts});
    add_measures(context, death, &verdict);
    return verdict;
  }
  Verdict verdict;
  verdict.oracle = oracle;
  verdict.status = VerdictStatus::kFail;
  verdict.cls = hang ? VerdictClass::kHang : death.memory_fault ? VerdictClass::kMemoryFault : VerdictClass::kCrash;
  verdict.fault = broken.empty() && context.has_reference && !refused;

  std::string what = (hang || death.memory_fault ? "" : "crash ") + cause(death);
  what += in_package ? " in subject" : " after subject";
  std::string when;
  if (!broken.empty())
    when = ", breaks " + broken.front().text;
  else if (refused)
    when = ", reference raises";
  verdict.signature = what + when;

  verdict.reason = sentence(death, in_package);
  if (!broken.empty())
    verdict.reason += ", on inputs outside the contract: " + broken.front().detail;
  else if (refused)
    verdict.reason += ", on inputs for which the reference raises an error";
  else
    verdict.reason +=
        context.has_reference ? ", on inputs that the reference accepts" : std::string(", ") + kLegalityUnknown;

  add_measures(context, death, &verdict);
  return verdict;
}

}  // namespace

std::string culprit_of(const Verdict& verdict) {
  std::string kernel, output;
  for (const auto& [name, value] : verdict.measures) {
    if (name == "kernel") kernel = value;
    if (name == "kernel output") output = value;
  }
  return kernel.empty() || output.empty() ? "" : kernel + " " + output;
}

bool is_hidden(const Verdict& verdict) { return verdict.oracle == "kernels"; }

std::vector<Verdict> judge_result(const TriageContext& context, const Case& c, const CaseResult& result) {
  if (result.report) {
    std::vector<Verdict> verdicts = result.report->verdicts;
    for (Verdict& verdict : verdicts)
      if (verdict.status == VerdictStatus::kFail) add_generated_line(context, &verdict);
    return verdicts;
  }
  if (result.death) return {judge_death(context, c, *result.death)};
  return {skip("worker", "no result")};
}

std::string finding_key(const Verdict& verdict) {
  std::string key = verdict.fault ? "fault" : "gap";
  key += ' ';
  if (verdict.cls) key += verdict_class_name(*verdict.cls);
  return key + ": " + verdict.signature;
}

const Verdict* find_failed(const std::vector<Verdict>& verdicts, const std::string& key) {
  for (const Verdict& verdict : verdicts)
    if (verdict.status == VerdictStatus::kFail && finding_key(verdict) == key) return &verdict;
  return nullptr;
}

int finding_rank(const Verdict& verdict) {
  constexpr std::array kOrder = {
      VerdictClass::kMemoryFault,    VerdictClass::kCrash,       VerdictClass::kHang,
      VerdictClass::kLeak,           VerdictClass::kWrongResult, VerdictClass::kInputChanged,
      VerdictClass::kUnstable,       VerdictClass::kMissesError, VerdictClass::kWrongMetadata,
      VerdictClass::kAcceptsIllegal, VerdictClass::kRejectsLegal};
  int rank = 0;
  while (rank < static_cast<int>(kOrder.size()) && verdict.cls && kOrder[rank] != *verdict.cls) ++rank;
  return rank + (verdict.fault ? 0 : 100);
}

}  // namespace aotifuzz
