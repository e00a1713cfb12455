#pragma once

#include <string_view>

#include "core/case.h"
#include "core/choices.h"
#include "core/contract.h"

namespace aotifuzz {

/// Draws a case from choices, inside or deliberately just outside a contract. Stateless after construction; the same
/// choices give the same case. When choices run out (all zero) the result is the simplest case it can make.
class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::string_view name() const = 0;
  virtual Case draw(Choices& choices, const Contract& contract) const = 0;
};

}  // namespace aotifuzz
