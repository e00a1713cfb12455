#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// More than one call of the loaded package, all inside the contract: other sizes or values in between (A, B, A), the
/// same from several threads at once, many runs with an eye on memory, other weights put in through the loader.
class SequencesGenerator final : public Generator {
 public:
  /// Runs of a case that looks for leaks: enough for a verdict, and now and then as many as a test of hours would make.
  static constexpr int kManyRuns = 32, kVeryManyRuns = 1000;

  explicit SequencesGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "sequences"; }
  Case draw(Choices& choices, const Contract& contract) const override;

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
