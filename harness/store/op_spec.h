#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/expr.h"

/// What a user says of an operator's arguments, so that the gate draws ones that the operator accepts. `#` starts a
/// comment; what is not said is drawn from the schema. Several lines of one operator are several ways of calling it,
/// each tried by itself.
///
///   ns::pad      x=f32[B,D]  block=64|$K  K>=1
///   ns::linear   x=f32[B,T,K]  w=f32[N,K]  b=None|f32[N]
///   ns::jagged   values=f32[N,D]  offsets=i64[B+1]:offsets(N)  B>=1
///   ns::gather   x=f32[B,D]  rows=i64[N]:below(B)  B>=1
///   ns::cat      xs={f32[B,D];f32[B,E]}  dim=-1|1
///   ns::window   x=f32[B,(T-1)//2+1]  y=f32[B,T]  B<=2*T
///   ns::fancy    @python-fake
///
///   line    := OPERATOR item*            OPERATOR := ns::name[.overload]
///   item    := ARGUMENT=value{|value}  |  limit  |  @python-fake  |  @skip
///   limit   := SYMBOL>=N  |  SYMBOL<=N  |  SYMBOL%N  |  condition
///   value   := tensor | {tensor;tensor...} | None | $SYMBOL | [size,size...] | [literal,literal...] | literal
///   literal := DTYPE | true | false | "text" | number | inf | nan
///   tensor  := DTYPE[size,size...] [:below(size) | :offsets(size) | :lengths(size) | :const(number) | :permutation]
///   size    := N | SYMBOL | SYMBOL+N | SYMBOL-N | N*SYMBOL | expression
///
/// An expression is made of numbers and symbols with + - * // % min(a,b) max(a,b) and brackets, a condition compares
/// two of them; with blanks in them they stand in brackets. Sizes at which a condition does not hold, or at which an
/// expression is a negative size, are not tried.
///
/// Every way of choosing one value for each argument is tried, up to a limit that the report names. A symbol is at
/// least 0, and what an argument is given ($K, $K-2) at least 1, unless the line says otherwise; S-5 as a size makes S
/// at least 5 whatever the line says, so that no size is ever negative. A tensor has at most 64 dimensions, as in
/// torch.
namespace aotifuzz {

/// factor * symbol + add; without a symbol just `add`.
struct SpecSize {
  int symbol = -1;
  int64_t factor = 1;
  int64_t add = 0;
  std::optional<Expr> formula{};  ///< in place of these: an expression over the symbols' names
};

struct SpecSymbol {
  std::string name;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple = 1;
};

struct SpecTensor {
  enum class Values { kAny, kBelow, kOffsets, kLengths, kConst, kPermutation };
  Dtype dtype = Dtype::kF32;
  std::vector<SpecSize> sizes{};
  Values values = Values::kAny;
  SpecSize limit{};     ///< of kBelow: exclusive; of kOffsets and kLengths: what they add up to
  double constant = 0;  ///< of kConst
};

struct SpecValue {
  enum class Kind { kNone, kTensor, kTensors, kSymbol, kSizes, kInt, kFloat, kBool, kText, kDtype, kList };
  Kind kind = Kind::kNone;
  std::vector<SpecTensor> tensors{};  ///< one for kTensor
  std::vector<SpecSize> sizes{};      ///< of kSizes; one for kSymbol
  int64_t integer = 0;                ///< of kInt and kBool
  double real = 0;
  Dtype dtype = Dtype::kUnknown;
  std::string text{};
  std::vector<SpecValue> items{};  ///< of kList: kFloat, kBool or kText, at least one
};

struct OperatorSpec {
  std::string name;
  int line = 0;
  std::vector<SpecSymbol> symbols;
  std::vector<Expr> conditions;                             ///< over the symbols' names
  std::vector<Expr> not_negative;                           ///< the same, implied by sizes that are expressions
  std::map<std::string, std::vector<SpecValue>> arguments;  ///< by name, never empty lists
  /// It tells one call of a program and not what is legal: what is not said takes the schema's default, and the values
  /// of integer tensors are nobody's word.
  bool is_call = false;
  bool python_fake = false;
  bool skip = false;

  int symbol_index(const std::string& name);  ///< adds it when it is new
};

/// By operator name; never empty lists, in the order of their lines.
using OpSpec = std::map<std::string, std::vector<OperatorSpec>>;

/// `name`: of the file, for errors.
Result<OpSpec> parse_op_spec(std::string_view text, const std::string& name);

/// From a regular file of at most kOpSpecBytesMax; anything else is refused before a byte of it is read. Throws
/// HarnessError, also for what parse_op_spec() says.
OpSpec read_op_spec(const std::string& path);
constexpr uint64_t kOpSpecBytesMax = uint64_t{16} << 20;

std::string size_text(const SpecSize& size, const std::vector<SpecSymbol>& symbols);
std::string value_text(const SpecValue& value, const std::vector<SpecSymbol>& symbols);
/// Bounds and conditions as items, each after a blank: " B>=1 (B <= L)". `given`: by symbol, an argument is given it,
/// so that a bound of 0 must be said too.
std::string limits_text(const std::vector<SpecSymbol>& symbols, const std::vector<Expr>& conditions,
                        const std::vector<bool>& given);

/// The size that the symbols' values give; of an expression that has no value there (a division by zero) -1.
int64_t size_value(const SpecSize& size, const std::vector<SpecSymbol>& symbols, const std::vector<int64_t>& values);
/// Do all of them hold? One that has no value does not.
bool conditions_hold(const std::vector<Expr>& conditions, const std::vector<SpecSymbol>& symbols,
                     const std::vector<int64_t>& values);

}  // namespace aotifuzz
