#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "package/compile_trace.h"
#include "package/contract_bounds.h"
#include "package/package_info.h"

namespace aotifuzz {

/// What a package is, for people: what it was built for, its inputs, the declared contract, which input checks were
/// compiled in and what they leave unchecked, kernels, extern calls, constants, and what cannot be judged.
void print_inspect_text(const PackageInfo& package, const ContractBounds& bounds, std::ostream& out);

/// The same as one JSON document, with the compile-time trace where there is one.
std::string inspect_json(const PackageInfo& package, const ContractBounds& bounds, const CompileTrace* trace = nullptr);

/// Declared conditions that no compiled check enforces, by their text ("i.size(1) == x.size(1)").
std::vector<std::string> unchecked_conditions(const PackageInfo& package);

/// Compiled checks that refuse what the contract allows ("x.size(0) >= 2", export's 0/1 assumption).
std::vector<std::string> undeclared_checks(const PackageInfo& package);

/// An expression over export's symbols with the dimensions that they are: "4*x.size(1)".
std::string dimension_text(const Contract& contract, const Expr& expr);

}  // namespace aotifuzz
