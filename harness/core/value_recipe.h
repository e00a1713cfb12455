#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/dtype.h"

namespace aotifuzz {

/// A number of a recipe: integers stay exact to 64 bits, floating values keep NaN, Inf and -0.0.
using Number = std::variant<int64_t, double>;
double to_double(Number number);
/// Truncates toward zero and saturates; NaN gives 0.
int64_t to_int64(Number number);
bool same_number(Number a, Number b);  ///< bitwise for doubles, so NaN equals NaN and -0.0 differs from 0.0

/// How one tensor's elements are made. `i` counts elements in logical (row-major) order whatever the strides are, so a
/// change of layout keeps the values. Random kinds are counter-based: element i depends on (seed, i) only.
enum class ValueKind : uint8_t {
  kConst,    ///< const(v)
  kRamp,     ///< ramp(start,step): start + step * i
  kUniform,  ///< uniform(lo,hi,seed): floating, [lo, hi)
  kNormal,   ///< normal(mean,std,seed): sum of twelve uniforms (Irwin-Hall), exact arithmetic, |z| <= 6
  kInts,     ///< ints(lo,hi,seed): integers, both ends included
  kSteps,    ///< steps(lo,hi,step,seed): step * k, k an integer, within [lo, hi]: quotients that are nearly integers
  kChoice,   ///< choice(seed,v0,v1,...): one of the values for each element
  kList,     ///< list(v0,v1,...): explicit; repeats when the tensor is longer
  kSorted,   ///< sorted(lo,hi,seed): non-decreasing integers, first = lo, last = hi (lo alone when numel is 1); with ties
  kPermutation,  ///< permutation(seed): 0..numel-1, each once (an affine map)
  kOneHot,   ///< onehot(index,v,rest): v at `index` (modulo numel), rest elsewhere
  kFile,     ///< file("x.npy",f32,hash=H): real values, kept beside the case; they repeat when the tensor is longer
};

/// Values of a real tensor, for kFile: a recipe that is too long for text. Immutable once it is shared.
struct FileValues {
  std::string name;   ///< of the .npy: in case text beside the case ("x.npy"), in memory an absolute path
  uint64_t hash = 0;  ///< hash_values() of what the file must hold
  Dtype dtype = Dtype::kUnknown;
  bool loaded = false;         ///< `bytes` are there; store/case_files.h sees to that
  std::vector<uint8_t> bytes;  ///< elements of `dtype`, dense, in logical order
};
/// The identity of values, whatever file they are in.
uint64_t hash_values(Dtype dtype, const std::vector<uint8_t>& bytes);

struct ValueRecipe {
  ValueKind kind = ValueKind::kConst;
  std::vector<Number> numbers = {Number{int64_t{0}}};  ///< in the order of the comment above, seed excluded
  uint64_t seed = 0;                                    ///< only for kinds that name a seed
  /// Single elements set after the recipe: (linear index modulo numel, value). Text: at(3)=-1.
  std::vector<std::pair<int64_t, Number>> patches;
  std::shared_ptr<const FileValues> file = nullptr;  ///< kFile only, and never null there; compared by hash

  friend bool operator==(const ValueRecipe& a, const ValueRecipe& b);
};

/// The name that case text uses ("normal"), and back.
std::string_view value_kind_name(ValueKind kind);
bool value_kind_has_seed(ValueKind kind);
bool value_kind_from_name(std::string_view name, ValueKind* kind);
/// Least and greatest count of numbers a kind takes (greatest -1: any).
std::pair<int, int> value_kind_arity(ValueKind kind);

/// Element `i` of `numel`, before conversion to a dtype. Of a file, which must be loaded: real parts.
Number value_at(const ValueRecipe& recipe, int64_t i, int64_t numel);

/// Writes `numel` elements of `dtype`, dense, in logical order, to `out` (numel * dtype_bytes(dtype) bytes).
/// Conversion: to integers by to_int64 then wrap to the width; bool is value != 0; to floating types round to nearest even
/// (16-bit and 8-bit through float32 semantics of c10); complex gets a zero imaginary part for even i, and value_at(i+1)
/// for odd i; a patch has imaginary part 0. A file's elements are copied bit by bit where it has the same dtype, else
/// converted through value_at; it must be loaded. `out` may lie at any address. The same bits on every machine; the generator
/// and the formulas are stated in core/element_source.h.
void fill_values(const ValueRecipe& recipe, Dtype dtype, int64_t numel, void* out);

}  // namespace aotifuzz
