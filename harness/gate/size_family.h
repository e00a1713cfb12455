#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "gate/argument_draw.h"
#include "gate/size_expr.h"

namespace aotifuzz {

/// The values of an operator's symbols at which meta and kernel are compared, generic ones first.
///
/// Where most symbols have a value of their own (primes, so that no two sizes agree by chance) one of them takes, in
/// turn: 0, 1, 2, 3, 5, 8, and the neighbours of vector widths, tiles and pages (16, 64, 128, 256, 1024), and of each
/// constant that was found in the meta's own conditions and expressions (`mined`). Where a symbol is at least S, so do
/// the three smallest values that it may have: of S-5 the sizes 0, 1 and 2. Then all symbols are 0, 1 and 2 at once.
/// Values outside a symbol's bounds are left out; where a condition ties symbols together, the others move along.
class SizeFamily {
 public:
  /// `conditions`: over the symbols' names; values at which one does not hold are left out.
  SizeFamily(const std::vector<SpecSymbol>& symbols, const std::set<int64_t>& mined,
             const std::vector<Expr>& conditions = {});

  /// False: no values were found that meet the conditions, and base() is none.
  bool is_possible() const { return possible_; }

  const SymbolValues& base() const { return all_.front(); }
  const std::vector<SymbolValues>& all() const { return all_; }
  /// The base, and every symbol at its smallest value, 0, 1, 2 and 129: for what was tried in full in another layout.
  const std::vector<SymbolValues>& few() const { return few_; }

  /// Constants worth trying, from all that were seen: at most kMinedMax, the small ones first.
  static std::set<int64_t> worth_trying(const std::set<int64_t>& constants);
  static constexpr size_t kMinedMax = 16;
  static constexpr int64_t kMinedLargest = 20'000;

 private:
  std::vector<SymbolValues> all_, few_;
  bool possible_ = true;
};

}  // namespace aotifuzz
