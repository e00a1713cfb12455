#pragma once

#include <memory>
#include <vector>

#include "core/generator.h"

namespace aotifuzz {

/// A campaign's default: each case from one of several generators, by weight.
class MixedGenerator final : public Generator {
 public:
  struct Part {
    int weight = 1;
    std::unique_ptr<Generator> generator;
  };
  /// At least one part with a positive weight; the first one makes the simplest case.
  explicit MixedGenerator(std::vector<Part> parts);
  std::string_view name() const override { return "mixed"; }
  Case draw(Choices& choices, const Contract& contract) const override;

 private:
  std::vector<Part> parts_;
  std::vector<int> weights_;
};

}  // namespace aotifuzz
