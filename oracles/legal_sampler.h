#pragma once

#include <cstdint>
#include <memory>

#include "oracles/node_hook.h"
#include "oracles/program_facts.h"

namespace aotifuzz {

/// Bit of a kReferenceSampled seed: with it the run draws *undefined results* (contents of empty tensors, float-to-int
/// out of range, winners of duplicate indices and of exact ties, integer division by zero, shifts past the width) and
/// no rounding; without it the run draws *rounding* and leaves undefined results as they are. Kept apart so that an
/// element that moves says why.
inline constexpr uint64_t kUndefinedSeed = uint64_t{1} << 32;
/// Rounding seeds 0 and 1 are not random: round to nearest after each op in the program's own dtypes (what eager does),
/// and the same with every 16-bit value kept in float32 (what Inductor does inside a kernel). Later seeds are random.
inline constexpr uint64_t kRoundAsWritten = 0;
inline constexpr uint64_t kRoundKeepFloat32 = 1;

/// Hooks for the referee's reference runs. Before such a run the worker converts low-precision floating and complex
/// inputs and weights to float64 / complex128; the hooks keep the program there: they map dtype arguments, convert what
/// ops make in float32 all the same, and run ops whose meaning depends on the dtype (view.dtype, upsample_nearest,
/// custom ops) in the program's own dtype. One hook serves one run on one thread. `facts` must outlive the hook.
std::unique_ptr<NodeHook> make_f64_hook(const ProgramFacts& facts);
std::unique_ptr<NodeHook> make_sampled_hook(const ProgramFacts& facts, uint64_t seed);

}  // namespace aotifuzz
