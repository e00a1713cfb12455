#pragma once

#include "core/case.h"
#include "core/choices.h"
#include "core/contract.h"
#include "generators/value_styles.h"

namespace aotifuzz {

/// Fills in the values of a case whose sizes are there, by dtype and role of each input. Half of the time one idea
/// serves all inputs that have it ("steps", "extremes"): faults that need two inputs at once (INT_MIN // -1) are then
/// likely.
void choose_values(Choices& choices, const Contract& contract, Case& c);

/// As choose_values, then one input gets a special style: NaN, Inf, an index outside, a divisor of zero. False when no
/// input has one.
bool choose_special_values(Choices& choices, const Contract& contract, Case& c);
bool has_special_values(const Contract& contract);

/// The simplest values of each input, no two inputs alike; of a program that nobody has, integers are 0.
void set_plain_values(const Contract& contract, Case& c);

/// What a style may draw on, for one input of `c`.
ValueContext value_context(const Contract& contract, const Case& c, size_t input);

}  // namespace aotifuzz
