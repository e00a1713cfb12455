#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"

namespace aotifuzz {

/// The independent sizes of a case: one variable for each symbol of the contract, so that dimensions which the contract
/// ties together move together, and one for each dimension that the case has otherwise than the contract says. Valid as
/// long as the case and the contract that it was made from.
class SizeVariables {
 public:
  struct Variable {
    std::string name;  ///< "x.size(0)", or a scalar input's name; never export's symbol, which changes with each export
    int64_t value = 0;
    int64_t least = 0;   ///< going lower cannot help: declared minimum, when the case respects it
    bool tied = false;   ///< a symbol of the contract; false: this one dimension alone
    std::string symbol;  ///< of the contract, when tied
    int input = -1;      ///< when not tied
    int dim = -1;        ///< -1: the scalar itself
  };

  SizeVariables(const Case& c, const Contract& contract);

  const std::vector<Variable>& variables() const { return variables_; }

  /// The case with variables set to new values (index -> value). Layouts keep their kind: dense stays dense, the
  /// exported strides stay the exported strides, transposed stays transposed with the same gaps. None when a size would
  /// be negative or is not defined.
  std::optional<Case> with(const std::map<size_t, int64_t>& values) const;

 private:
  /// Symbols that decide at least one size or scalar of the case.
  std::set<std::string> used_symbols() const;
  /// The first dimension whose size depends on the symbol.
  std::string dimension_with(const std::string& symbol) const;
  std::optional<int64_t> solve(const std::string& symbol, const std::map<std::string, int64_t>& known) const;

  const Case& case_;
  const Contract& contract_;
  std::vector<Variable> variables_;
  std::map<std::string, int64_t> symbols_;  ///< values under the case
};

}  // namespace aotifuzz
