#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "oracles/oracle.h"

namespace aotifuzz {

/// One row per oracle: the explicit table that --list, README and the conformance tests are made from.
struct OracleRow {
  std::string_view name;  ///< Oracle::name(), file stem without "_oracle"
  std::string_view help;  ///< one line
  bool needs_reference;   ///< off without one
  std::unique_ptr<Oracle> (*make)();
};

std::span<const OracleRow> oracle_rows();
/// Every oracle of the table, in its order; without a reference those that need none.
std::vector<std::unique_ptr<Oracle>> make_oracles(bool has_reference = true);

}  // namespace aotifuzz
