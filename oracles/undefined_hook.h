#pragma once

#include "oracles/noise_stream.h"
#include "oracles/referee_hook.h"

namespace aotifuzz {

/// A float64 run in which results that torch leaves undefined are drawn (kUndefinedSeed in legal_sampler.h):
/// - contents of aten.empty and its kin;
/// - floating to integer casts of NaN, infinities and values out of range;
/// - integer quotients and remainders by 0 and of the least value by -1, shifts by a negative count or past the width;
/// - floating sums, products and variances that may pass the end of the range on the way (inf, NaN or neither, by
/// order);
/// - which of several writes to one place wins (scatter, index_put, index_copy without accumulation);
/// - which of several equal elements argmax, max, topk, an unstable sort... point at.
/// An output element that differs from the plain float64 run depends on one of these and is exempt.
class UndefinedHook final : public RefereeHook {
 public:
  UndefinedHook(const ProgramFacts& facts, uint64_t seed) : RefereeHook(facts), noise_(seed), flip_(seed & 1), draws_nan_(seed % 4 == 3) {}

 protected:
  void adjust_arguments(const Call& call, torch::jit::Stack& arguments) override;
  void adjust_results(const Call& call, torch::jit::Stack& results) override;

 private:
  void reorder_ties(const Call& call, torch::jit::Stack& arguments);
  void restore_positions(torch::jit::Stack& results);
  void reorder_writes(const Call& call, torch::jit::Stack& arguments);
  void find_overflow(const Call& call, const torch::jit::Stack& arguments);
  void find_undefined(const Call& call, const torch::jit::Stack& arguments);
  /// `values` with drawn numbers where `where` holds.
  at::Tensor drawn(const at::Tensor& values, const at::Tensor& where);

  NoiseStream noise_;
  bool flip_;  ///< reverse, else rotate by a random amount: two ways to change who comes first
  /// Undefined floating numbers are NaN: a few numbers may by chance all end where the exact one does (a relu's 0).
  bool draws_nan_;

  bool overflows_ = false;  ///< partial results of the op in flight may overflow
  at::Tensor undefined_;    ///< bool mask over the first result of the op in flight, or undefined
  struct Reordered {
    int result = -1;  ///< index result to translate back; -1: nothing was reordered
    int64_t size = 0;
    int64_t shift = 0;
  };
  Reordered reordered_;
};

}  // namespace aotifuzz
