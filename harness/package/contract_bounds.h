#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/contract.h"

namespace aotifuzz {

/// Values of dimensions by name ("x.size(0)"): every size of every input, free strides ("x.stride(0)") and int scalars.
using Assignment = std::map<std::string, int64_t>;

/// What Z3 computed from a contract, once per package. Per-case drawing works from this and never calls the solver.
struct ContractBounds {
  struct SymbolBounds {
    std::string symbol;              ///< "" for a dimension such as 32*s, whose symbol s has a row of its own
    std::string dim;                 ///< "" for such a hidden symbol
    int64_t min = 0;
    std::optional<int64_t> max;      ///< none: unbounded
    std::vector<int64_t> landmarks;  ///< values worth trying that some full assignment allows, ascending
    int64_t step = 1, residue = 0;   ///< allowed values are residue modulo step as far as found (x % 100 == 0: 100, 0)
  };
  std::vector<SymbolBounds> symbols;
  /// Full assignments at the edges: all minimal, each symbol at each landmark with the others small, all distinct primes.
  std::vector<Assignment> boundary;
  /// Per condition of the contract (index) assignments that break only that one, by as little as possible, smallest
  /// first; empty when none exists (implied by the others, or the solver gave up: see `notes`).
  struct Breaking { int condition; std::vector<Assignment> assignments; };
  std::vector<Breaking> breaking;
  std::vector<std::string> notes;  ///< what was not solved and why
};

/// Sizes that are worth trying for a reason that the contract does not know.
struct SizeTargets {
  std::map<std::string, std::set<int64_t>> values;           ///< by dimension of a symbol ("x.size(0)")
  std::vector<std::pair<std::string, std::string>> related;  ///< two such dimensions: equal, and nearly so
};

/// Deterministic. `elements_max` bounds the elements of each input in the assignments proposed (memory, time). Targets
/// that the contract allows become landmarks and boundary assignments.
ContractBounds compute_bounds(const Contract& contract, int64_t elements_max, const SizeTargets& targets = {});

}  // namespace aotifuzz
