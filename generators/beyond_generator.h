#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Just outside the contract: exactly one condition is broken, by a size, a dtype, a layout, an overlap, the rank, a
/// fixed scalar or a tensor without storage. Everything else is plain, so that what happens has one cause.
class BeyondGenerator final : public Generator {
 public:
  explicit BeyondGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "beyond"; }
  Case draw(Choices& choices, const Contract& contract) const override;

  /// False when the contract leaves no such way.
  static bool applies(const CaseModel& model);

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
