#pragma once

#include <string_view>
#include <vector>

namespace aotifuzz {

/// What the gate can find wrong with an operator. Identifiers are stable: CI systems key on them.
struct FaultKind {
  std::string_view id;
  std::string_view meaning;
  std::string_view to_do;
};

/// In the order in which they are listed.
const std::vector<FaultKind>& fault_kinds();
/// A kind without an entry ranks last and has no text: the worker is of another build.
const FaultKind& fault_kind(std::string_view id);
/// Position in the table.
int fault_rank(std::string_view id);

}  // namespace aotifuzz
