#pragma once

#include <memory>

#include "core/contract.h"
#include "generators/gaps.h"
#include "generators/shape_model.h"
#include "package/contract_bounds.h"

namespace aotifuzz {

/// Everything that generators computed from one contract, once per package; shared by all of them. Immutable.
struct CaseModel {
  CaseModel(const Contract& contract, const ContractBounds& bounds) : shapes(contract, bounds), gaps(shapes, bounds) {}
  ShapeModel shapes;
  GapTable gaps;
};
using CaseModelPtr = std::shared_ptr<const CaseModel>;

}  // namespace aotifuzz
