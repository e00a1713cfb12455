#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/contract.h"
#include "core/verdict.h"
#include "oracles/program_facts.h"
#include "oracles/run_record.h"

namespace aotifuzz {

/// Everything an oracle may look at besides run records. Valid for one case.
struct CaseContext {
  const Case& input;
  const Contract& contract;
  const std::vector<Violation>& violations;   ///< empty: the contract allows the case
  const ProgramFacts& facts;
  bool has_reference = true;
  bool has_kernels = false;    ///< there is a kernel map
  bool judge_kernels = false;  ///< and this case was chosen for it
  std::span<const at::Tensor> inputs_before;  ///< pristine copies, one per input; undefined for scalars
};

/// Finished runs, in the order in which they were requested.
class RunRecords {
 public:
  void add(RunRecord record) { records_.push_back(std::move(record)); }
  const RunRecord* find(const RunRequest& request) const {
    for (const RunRecord& record : records_)
      if (record.request == request) return &record;
    return nullptr;
  }
  const RunRecord* find(RunKind kind) const {
    for (const RunRecord& record : records_)
      if (record.request.kind == kind) return &record;
    return nullptr;
  }
  std::span<const RunRecord> all() const { return records_; }
  void clear() { records_.clear(); }

 private:
  std::vector<RunRecord> records_;
};

/// What judge() says: verdicts, or runs it needs before it can say.
struct Judgement {
  std::vector<Verdict> verdicts;
  std::vector<RunRequest> more_runs;  ///< not empty: run these, then call judge() again; verdicts are ignored
};

/// Decides whether finished runs show a fault. Runs nothing itself: plan() says which runs it wants, judge() reads how they
/// ended, and may ask for more (a referee) before it decides. So it can be tested with hand-made records. Stateless and
/// safe to share between threads. A legal input: violations empty and the reference finished.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// Stable key: report column and catalog row; equals the file stem ("close").
  virtual std::string_view name() const = 0;
  /// Runs needed, in the order in which they should happen. Empty: not applicable to this case.
  virtual std::vector<RunRequest> plan(const CaseContext& context) const = 0;
  /// Never throws for what the package did: a rejected run is a record like any other. A run that is missing: skip.
  virtual Judgement judge(const CaseContext& context, const RunRecords& runs) const = 0;
};

}  // namespace aotifuzz
