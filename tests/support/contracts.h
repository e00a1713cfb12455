#pragma once

#include <string>
#include <vector>

#include "core/contract.h"

namespace aotifuzz::support {

/// Writes contracts as package/contract_builder would: the first dimension that is exactly a symbol states it, every
/// other one becomes a condition.
class ContractMaker {
 public:
  /// `max` 0: unbounded.
  Expr symbol(const std::string& name, int64_t min = 0, int64_t max = 0);
  ContractMaker& tensor(const std::string& name, Dtype dtype, std::vector<Expr> sizes, std::vector<Expr> strides = {});
  ContractMaker& role(ValueRole::Kind kind, std::optional<Expr> bound = std::nullopt);  ///< of the last tensor
  ContractMaker& scalar(const std::string& name, CaseInput::Kind kind, Number constant, bool is_constant);
  /// Over dimension names.
  ContractMaker& guard(Expr expr);
  Contract contract() const { return contract_; }

 private:
  void condition(Condition::Kind kind, int input, Expr expr);
  SymbolSpec* find(const std::string& name);
  Contract contract_;
};

Expr size_of(const std::string& input, int dim);  ///< the symbol "x.size(1)"
Expr number(int64_t value);
Expr times(Expr x, Expr y);

struct NamedContract {
  std::string name;
  Contract contract;
};
/// One of each kind of relation that exports make; what the conformance suite runs over.
const std::vector<NamedContract>& sample_contracts();
const Contract& sample_contract(const std::string& name);

}  // namespace aotifuzz::support
