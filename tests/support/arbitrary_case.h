#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/case.h"

namespace aotifuzz::support {

/// Any double, special ones often.
inline rc::Gen<Number> arbitrary_number() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<int64_t>(), [](int64_t v) { return Number{v}; }),
      rc::gen::map(rc::gen::arbitrary<double>(), [](double v) { return Number{v}; }),
      rc::gen::element(Number{std::numeric_limits<int64_t>::min()}, Number{std::numeric_limits<int64_t>::max()},
                       Number{-0.0}, Number{0.0}, Number{1.0}, Number{std::nan("")}, Number{1e22}, Number{5e-324},
                       Number{std::numeric_limits<double>::infinity()},
                       Number{-std::numeric_limits<double>::infinity()}, Number{std::numeric_limits<double>::max()},
                       Number{0.1}));
}

inline ValueRecipe arbitrary_recipe() {
  ValueRecipe recipe;
  recipe.kind = static_cast<ValueKind>(*rc::gen::inRange(0, static_cast<int>(ValueKind::kOneHot) + 1));
  const auto [least, most] = value_kind_arity(recipe.kind);
  const int count = *rc::gen::inRange(least, (most < 0 ? 9 : most) + 1);
  recipe.numbers = *rc::gen::container<std::vector<Number>>(static_cast<size_t>(count), arbitrary_number());
  if (value_kind_has_seed(recipe.kind)) recipe.seed = *rc::gen::arbitrary<uint64_t>();
  const int patches = *rc::gen::inRange(0, 3);
  for (int i = 0; i < patches; ++i) recipe.patches.emplace_back(*rc::gen::arbitrary<int64_t>(), *arbitrary_number());
  return recipe;
}

inline CaseInput arbitrary_input(const std::string& name, const std::vector<CaseInput>& earlier) {
  static const std::vector<Dtype> dtypes = {Dtype::kU8,       Dtype::kI8,        Dtype::kI16,  Dtype::kI32,
                                            Dtype::kI64,      Dtype::kF16,       Dtype::kF32,  Dtype::kF64,
                                            Dtype::kC64,      Dtype::kC128,      Dtype::kBool, Dtype::kBF16,
                                            Dtype::kF8E4M3FN, Dtype::kF8E8M0FNU, Dtype::kU16,  Dtype::kU64};
  CaseInput input;
  input.name = name;
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      input.kind = CaseInput::Kind::kInt, input.scalar = *rc::gen::arbitrary<int64_t>();
      return input;
    case 1:
      input.kind = CaseInput::Kind::kFloat, input.scalar = to_double(*arbitrary_number());
      return input;
    case 2:
      input.kind = CaseInput::Kind::kBool, input.scalar = int64_t{*rc::gen::arbitrary<bool>()};
      return input;
    case 3:
      input.kind = CaseInput::Kind::kNone;
      return input;
    default:
      break;
  }
  input.dtype = *rc::gen::elementOf(dtypes);
  const size_t rank = *rc::gen::inRange<size_t>(0, 5);
  input.sizes = *rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 40));
  if (*rc::gen::arbitrary<bool>())
    input.strides = *rc::gen::container<std::vector<int64_t>>(rank, rc::gen::inRange<int64_t>(0, 2000));
  input.values = ValueRecipe{};
  if (*rc::gen::inRange(0, 8) == 0) {
    input.zero_tensor = true;
    return input;
  }
  input.offset = *rc::gen::element<int64_t>(0, 0, 1, 1000);
  std::vector<std::string> owners;
  for (const CaseInput& other : earlier)
    if (other.kind == CaseInput::Kind::kTensor && !other.zero_tensor && other.storage_of.empty())
      owners.push_back(other.name);
  if (!owners.empty() && *rc::gen::inRange(0, 3) == 0) {
    input.storage_of = *rc::gen::elementOf(owners);
    return input;
  }
  input.misalign_bytes = *rc::gen::element<int64_t>(0, 0, 1, 4, 60);
  input.place = *rc::gen::element(CasePlace::kDeclared, CasePlace::kDeclared, CasePlace::kHost, CasePlace::kDevice);
  input.values = arbitrary_recipe();
  return input;
}

/// Any case that parse_case accepts. Call inside a property (draws from the property's own randomness, so it shrinks).
inline Case arbitrary_case() {
  static const std::vector<std::string> names = {"x",   "i",   "arg0_1", "_y", "input", "run",
                                                 "inf", "nan", "seed",   "at", "none"};
  Case c;
  const size_t count = *rc::gen::inRange<size_t>(0, names.size() + 1);
  for (size_t i = 0; i < count; ++i) c.inputs.push_back(arbitrary_input(names[i], c.inputs));
  for (size_t i = count; i-- > 0 && *rc::gen::inRange(0, 3) == 0;) {
    if (c.inputs[i].kind != CaseInput::Kind::kTensor) break;
    c.inputs[i].surplus = true;
  }
  c.input_checks = *rc::gen::arbitrary<bool>();
  c.runs = *rc::gen::inRange(1, 5);
  c.threads = *rc::gen::inRange(1, 5);
  const int calls = *rc::gen::element(0, 0, 1, 2);
  for (int i = 0; i < calls; ++i) {
    CaseCall call;
    for (size_t k = 0; k < count; ++k) call.inputs.push_back(arbitrary_input(names[k], call.inputs));
    call.times = *rc::gen::inRange(1, 4);
    c.then.push_back(std::move(call));
  }
  c.callers = *rc::gen::inRange(1, 5);
  c.constants = *rc::gen::element(CaseConstants::kExported, CaseConstants::kUpdated, CaseConstants::kSwapped);
  return c;
}

}  // namespace aotifuzz::support
