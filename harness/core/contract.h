#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/dtype.h"
#include "core/expr.h"

namespace aotifuzz {

/// What the use of an input in the graph says about sensible values, learned from the ops that consume it.
struct ValueRole {
  enum class Kind : uint8_t { kPlain, kIndex, kMask, kOffsets, kSorted, kDivisor, kShift, kCount };
  Kind kind = Kind::kPlain;
  std::optional<Expr> bound;  ///< kIndex: size of the indexed dimension; kOffsets: total; over dimension names
  std::string op;             ///< the op that says so: "aten.embedding.default"
};

/// One input as the program declares it. Sizes, strides and offset are expressions over the contract's symbols.
struct InputSpec {
  CaseInput::Kind kind = CaseInput::Kind::kTensor;
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::string device = "cpu";
  std::vector<Expr> sizes;
  std::vector<Expr> strides;
  Expr offset;
  bool mutated = false;      ///< the program writes it (user_input_mutation or an in-place op in the graph)
  ValueRole role;
  Number constant = int64_t{0};  ///< scalars fixed at export: the only value that the program takes
  bool is_constant = false;
};

/// A symbol of the export ("s77") tied to the first input dimension that is exactly it.
struct SymbolSpec {
  std::string name;
  std::string dim;              ///< "x.size(0)"; "" for an unbacked or derived symbol no input states directly
  int64_t min = 0;              ///< declared, inclusive; a lower bound of 2 is export's 0/1 assumption and becomes 0
  std::optional<int64_t> max;   ///< declared, inclusive; none = unbounded
  bool unbacked = false;        ///< "u0": decided by values at run time
};

/// One declared condition on the inputs, over dimension names ("x.size(1)", "x.stride(0)", scalars by input name).
struct Condition {
  enum class Kind : uint8_t {
    kSize,      ///< a static size, or a size that its expression fixes (equality across inputs, 2*s, sums, products)
    kRange,     ///< a bound of a symbol
    kGuard,     ///< a line of guards_code
    kStride, kOffset, kDtype, kDevice, kRank, kScalar, kOverlap, kZeroTensor, kKind,
  };
  Kind kind = Kind::kGuard;
  int input = -1;   ///< index of the input that it is about; -1 for relations between several
  Expr expr;        ///< boolean; meaningful for kSize, kRange, kGuard
  std::string text; ///< as reports and signatures print it, symbols resolved to dimensions: "i.size(1) == x.size(1)"
  /// A guard that tracing met (guards_code): beyond it the model may take another way than the exported program does.
  bool traced = false;
};

/// A condition that a case breaks.
struct Violation {
  Condition::Kind kind;
  int input = -1;
  std::string text;    ///< Condition::text, or for layouts "x: strides as exported (dense)": stable, no concrete sizes
  std::string detail;  ///< with the case's numbers: "i.size(1) = 9, x.size(1) = 7"
};

/// Which inputs the program accepts: dtype, device, symbolic sizes and strides, ranges, relations. Built once per package
/// by package/contract_builder; immutable and safe to share between threads.
struct Contract {
  std::vector<InputSpec> inputs;
  std::vector<SymbolSpec> symbols;
  std::vector<Condition> conditions;  ///< kSize, kRange and kGuard; layout, dtype... follow from `inputs`
  bool declared = true;  ///< false: no ExportedProgram; sizes and ranges are those that the compiled checks enforce

  int find_input(std::string_view name) const;  ///< -1 when there is none
};

/// Value of a dimension name ("x.size(1)", "x.stride(0)", "x.offset()", or a scalar's name) under `c`.
std::optional<int64_t> dimension_value(const Case& c, const std::string& name);

/// Every condition that `c` breaks, in a stable order; empty means that the contract allows it. Strides of dimensions of
/// size 0 and 1, and all strides of an empty tensor, never count. A condition with an opaque part is not checked.
/// Values are not looked at: whether the reference accepts them is known only by running it.
std::vector<Violation> violations(const Contract& contract, const Case& c);

}  // namespace aotifuzz
