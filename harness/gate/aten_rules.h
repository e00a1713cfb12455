#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

namespace aotifuzz {

/// What ATen operators called inside a meta do to symbolic sizes. Most of ATen's own Meta kernels compute with plain
/// numbers; Python replaces them by decompositions, we by these rules. A rule takes the place of the kernel: it pops
/// the arguments and pushes results whose sizes are expressions.
///
/// Operators without a rule run ATen's own kernel. Where that asks a symbol for a number, the symbolic run is no
/// statement about the meta any more (SymbolicRun::unruled()).
///
/// While a Scope lives, calls on this thread come here.
class AtenRules {
 public:
  class Scope {
   public:
    Scope();
    ~Scope();

   private:
    bool was_;
  };
  /// Names of the operators that have a rule, "aten::mm"; pointwise ones are known by their tag and not listed.
  static std::vector<std::string> names();
};

}  // namespace aotifuzz
