#pragma once

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Inside the contract: sizes, values, storage offset and alignment, layouts as exported.
class ShapesGenerator final : public Generator {
 public:
  explicit ShapesGenerator(CaseModelPtr model) : model_(std::move(model)) {}
  std::string_view name() const override { return "shapes"; }
  Case draw(Choices& choices, const Contract& contract) const override;

 private:
  CaseModelPtr model_;
};

}  // namespace aotifuzz
