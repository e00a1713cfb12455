#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/expr.h"

namespace aotifuzz {

/// Whether `e`, written out, has more than `nodes` nodes; long names and opaque texts count as several. What uses an
/// operand twice (chained comparisons, truncation) asks first: nested, it would grow exponentially.
bool is_larger_than(const Expr& e, int nodes);
inline constexpr int kRepeatedNodesMax = 256;

/// Builds calls of the functions that sympy-srepr text and guards use ("FloorDiv", "Max", "torch.sym_max"). What has no
/// integer meaning becomes opaque. One object per parsed text.
class SizeFunctions {
 public:
  Expr call(std::string_view name, std::vector<Expr> args);
  /// True division: opaque by itself, but floor and ceil of it are integer divisions.
  Expr divide(Expr numerator, Expr denominator);

 private:
  Expr rounded(std::string_view name, const Expr& arg);
  std::map<std::string, std::pair<Expr, Expr>> divisions_;  ///< by text of the opaque expression
};

}  // namespace aotifuzz
