#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "package/dimension_space.h"

namespace aotifuzz {

/// Z3 over the conditions of a contract. Deterministic: fixed seeds and a resource limit instead of wall time. A
/// condition that cannot be translated (2**n) is left out, so that answers are then candidates to be checked by
/// evaluation.
class ContractSolver {
 public:
  explicit ContractSolver(const DimensionSpace& space);
  ~ContractSolver();

  enum class Answer { kYes, kNo, kUnknown };
  struct Query {
    int broken = -1;               ///< this condition must fail instead of hold; -1: all hold
    std::set<int> without;         ///< conditions that are left out
    Assignment fixed;              ///< dimension == value
    Assignment at_least, at_most;  ///< dimension bounds
    std::optional<std::pair<std::string, std::pair<int64_t, int64_t>>> not_congruent;  ///< dim, (step, residue)
  };
  struct Solution {
    Answer answer = Answer::kUnknown;
    Assignment values;  ///< of every dimension, when kYes
  };
  Solution solve(const Query& query);

  /// Conditions that could not be translated.
  const std::vector<int>& untranslated() const { return untranslated_; }
  /// How often the resource limit ended a query.
  int given_up() const { return given_up_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  const DimensionSpace& space_;
  std::vector<int> untranslated_;
  int given_up_ = 0;
};

}  // namespace aotifuzz
