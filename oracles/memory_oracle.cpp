#include "oracles/memory_oracle.h"

#include <set>
#include <string>

#include "oracles/verdict_builder.h"

namespace aotifuzz {

std::vector<RunRequest> MemoryOracle::plan(const CaseContext& context) const {
  std::vector<RunRequest> out;
  if (context.has_reference) out.push_back({RunKind::kReference, 0});
  out.push_back({RunKind::kSubject, 0});
  return out;
}

Judgement MemoryOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* subject = runs.find(RunKind::kSubject);
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  const RunRecord* reference = context.has_reference ? runs.find(RunKind::kReference) : nullptr;
  if (context.has_reference && !reference) return only(skip_verdict(name(), "no run: reference"));
  const InputState inputs{context.violations, context.has_reference, finished(reference)};
  Judgement judgement;
  std::set<std::string> seen;
  for (const RunRecord& run : runs.all())
    for (const MemoryFault& damage : run.damage)
      if (seen.insert(memory_fault_key(damage)).second)
        judgement.verdicts.push_back(memory_fault_verdict(damage, inputs));
  if (!judgement.verdicts.empty()) return judgement;
  if (!finished(subject))
    return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(subject->outcome.kind))));
  return only(pass_verdict(name()));
}

}  // namespace aotifuzz
