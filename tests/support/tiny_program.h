#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/case.h"
#include "core/contract.h"
#include "oracles/kernel_record.h"
#include "oracles/leak_oracle.h"
#include "oracles/oracle.h"
#include "oracles/program_facts.h"
#include "package/graph.h"

namespace aotifuzz::testing {

/// An ExportedProgram made by calling ops, and just enough of an interpreter to run it with node hooks: what oracle
/// tests need of a reference, without an archive.
class TinyProgram {
 public:
  using Arguments = std::vector<std::pair<std::string, Argument>>;  ///< by schema argument name

  /// A user input; the example decides dtype and rank.
  std::string input(const std::string& name, const at::Tensor& example);
  /// Calls "aten.add.Tensor"; names of the result tensors.
  std::vector<std::string> call(const std::string& target, const Arguments& arguments);
  std::string call1(const std::string& target, const Arguments& arguments) { return call(target, arguments).at(0); }
  void output(const std::string& value);

  static Argument value(const std::string& name);
  static Argument values(const std::vector<std::string>& names);
  static Argument number(int64_t value);
  static Argument number(double value);
  static Argument truth(bool value);
  static Argument numbers(const std::vector<int64_t>& values);
  static Argument dtype(Dtype value);

  const Program& program() const { return program_; }
  ProgramFacts facts() const;
  /// Reference, float64 or sampled run on copies of `inputs`. An error becomes the outcome.
  RunRecord run(const RunRequest& request, const std::vector<at::Tensor>& inputs) const;

 private:
  Program program_;
  std::vector<at::Tensor> examples_;
};

/// Everything that one oracle test needs; subject runs are copies of the reference until the test changes them.
struct Scenario {
  TinyProgram program;
  std::vector<at::Tensor> inputs;
  Case input;
  Contract contract;
  std::vector<Violation> violations;
  ProgramFacts facts;
  bool has_reference = true;
  RunRecord reference, subject, again;
  /// The first run repeated, after other calls, and with several callers; none: as the first.
  std::optional<RunRecord> repetition, then, callers;
  std::vector<int64_t> memory_in_use = std::vector<int64_t>(LeakOracle::kRunsLeast, 1000);
  std::optional<std::vector<int64_t>> memory_in_use_further;  ///< when asked for more runs; none: the same again
  KernelRecord kernels;  ///< of the run whose kernels are judged; one call by default
  /// Applied to the outputs of referee runs: lets a test make the reference side the odd one.
  std::function<void(RunRecord&)> change_referee;

  Scenario(TinyProgram tiny, std::vector<at::Tensor> input_values);
  /// judge() with the runs that it asks for, until it answers.
  Judgement judge(const Oracle& oracle, std::vector<RunKind> missing = {}) const;
  Verdict verdict(const Oracle& oracle) const { return judge(oracle).verdicts.at(0); }
  /// Judges `oracle` by its catalog name.
  Verdict verdict(std::string_view oracle) const;
};

/// Deep copy: outputs and inputs afterwards get memory of their own.
RunRecord copy_of(const RunRecord& record, const RunRequest& request);

}  // namespace aotifuzz::testing
