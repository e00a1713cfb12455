#pragma once

#include <ostream>
#include <string>

#include "package/package_info.h"

namespace aotifuzz {

/// The kernel map for people: every call in the order of execution, what it is given and leaves behind, and whether it
/// can be judged, else why not. Needs `package.kernels`.
void print_kernel_table(const PackageInfo& package, std::ostream& out);

/// Calls and the values that flow between them, as a graph in the DOT language of Graphviz: calls that are judged are
/// boxes, others dashed ones with the reason.
void print_kernel_graph(const PackageInfo& package, std::ostream& out);

/// A size with its symbols as the input dimensions that they are: what a user can look at. Needs `package.kernels`.
std::string size_text(const PackageInfo& package, const Expr& expression);

/// Why a call of the map is not judged: pack's own reason, or that its slice of the graph reaches past what it is
/// given. "" = it is judged, as far as can be told without torch.
std::string why_not_judged(const KernelMap& map, const MappedCall& call);

/// The innermost model source line of the nodes that a call implements: "model.py:12 in forward: y = self.ln(x)"; ""
/// when export kept none.
std::string model_line(const KernelMap& map, const MappedCall& call);

}  // namespace aotifuzz
