#pragma once

#include <string>
#include <vector>

#include "package/contract_bounds.h"
#include "package/package_info.h"

namespace aotifuzz {

/// A size that the compiled package takes for granted: "idx.size(1) == x.size(1)", "x.size(2) == 4".
struct SizeAssumption {
  std::string dim;    ///< "idx.size(1)"
  std::string other;  ///< dimension that it equals; "" = it is `value`
  int64_t value = 0;
  bool declared = false;  ///< the contract says so too
  std::string text() const;
};

/// What the generated checks say of sizes beyond ranges: static sizes, and where torch compiled a second layer of
/// checks (since 2.13) sizes that must equal another input's. Each once.
std::vector<SizeAssumption> size_assumptions(const PackageInfo& package);

/// Where legal inputs leave what the compiled package takes for granted, and where they just keep to it: sizes at and
/// beside each assumption that the contract does not declare, and each limit of the compiled checks. Only of dimensions
/// that are one symbol.
SizeTargets assumption_targets(const PackageInfo& package);

/// Does the contract force both dimensions ("x.size(0)") to be equal in every legal input?
bool declared_equal(const Contract& contract, const std::string& a, const std::string& b);

}  // namespace aotifuzz
