#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Sizes inside the contract, one input with values that the reference may refuse (an index outside, a divisor of zero)
/// or that are NaN or Inf.
class SpecialGenerator final : public Generator {
 public:
  explicit SpecialGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "special"; }
  Case draw(Choices& choices, const Contract& contract) const override;

  /// False when no input has such values.
  static bool applies(const CaseModel& model);

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
