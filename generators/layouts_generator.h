#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Sizes inside the contract, one layout outside: strides other than exported, stride 0, or memory shared between
/// inputs.
class LayoutsGenerator final : public Generator {
 public:
  explicit LayoutsGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "layouts"; }
  Case draw(Choices& choices, const Contract& contract) const override;

  /// False when the contract leaves no such way.
  static bool applies(const CaseModel& model);

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
