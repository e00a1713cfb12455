#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Inside the contract with the package's own input checks on; sizes of 0 and 1 in most cases, for the checks refuse
/// them.
class ChecksGenerator final : public Generator {
 public:
  explicit ChecksGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "checks"; }
  Case draw(Choices& choices, const Contract& contract) const override;

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
