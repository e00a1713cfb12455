#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/value_recipe.h"

namespace aotifuzz {

/// Where an input lies.
enum class CasePlace : uint8_t {
  kDeclared,  ///< where the program wants it
  kHost,      ///< in the host's memory, whatever the program wants
  kDevice,    ///< on a GPU, whatever the program wants
};
std::string_view case_place_name(CasePlace place);  ///< "declared", "cpu", "cuda"
std::optional<CasePlace> case_place_from_name(std::string_view name);

/// One input of a case. A tensor names concrete sizes and a layout; a scalar stands for an int, float or bool input.
struct CaseInput {
  enum class Kind : uint8_t { kTensor, kInt, kFloat, kBool, kNone };
  std::string name;  ///< the program's user input ("x"); position decides, the name is for readers and reports
  Kind kind = Kind::kTensor;

  // kTensor
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> sizes;
  std::optional<std::vector<int64_t>> strides;  ///< elements; none means row-major dense
  int64_t offset = 0;                           ///< elements from the start of the storage
  int64_t misalign_bytes = 0;                   ///< storage starts this far past a 64-byte boundary
  std::string storage_of;                       ///< name of an earlier input whose storage this one views; "" = its own
  bool zero_tensor = false;                     ///< torch._efficientzerotensor: no storage at all
  CasePlace place = CasePlace::kDeclared;
  bool surplus = false;  ///< one more than the program takes; such inputs are tensors and come last
  ValueRecipe values;    ///< ignored when storage_of is set (the values are the other's)

  // scalars
  Number scalar = int64_t{0};

  int64_t numel() const;
  /// Row-major strides for `sizes` as torch makes them (sizes of 0 count as 1).
  static std::vector<int64_t> dense_strides(const std::vector<int64_t>& sizes);
  std::vector<int64_t> effective_strides() const { return strides ? *strides : dense_strides(sizes); }
  /// Elements of storage that the view spans, offset included; 0 for an empty tensor.
  int64_t storage_elements() const;

  friend bool operator==(const CaseInput&, const CaseInput&);
};

/// A case that asks for so many runs or more is one that looks for leaks.
inline constexpr int kLeakRunsLeast = 24;
/// Rounds that each of several callers makes of all calls.
inline constexpr int kCallerRounds = 3;

/// A further call of the loaded package, made between two on the case's own inputs.
struct CaseCall {
  std::vector<CaseInput> inputs;  ///< as in Case
  int times = 1;

  friend bool operator==(const CaseCall&, const CaseCall&) = default;
};

/// The package's weights while the case runs.
enum class CaseConstants : uint8_t {
  kExported,  ///< as packed
  kUpdated,   ///< every floating one half of that, put in through the loader while the package is loaded
  kSwapped,   ///< the same, put into the inactive set of weights, which then becomes the active one
};
std::string_view case_constants_name(CaseConstants constants);  ///< "exported", "updated", "swapped"
std::optional<CaseConstants> case_constants_from_name(std::string_view name);

/// A recipe for one set of inputs and how to run it: a few hundred bytes of text, never tensors. Says concrete sizes,
/// not export's symbol names (they change with each export). Format: store/case_text.h.
struct Case {
  std::vector<CaseInput> inputs;  ///< in the program's order of user inputs; then those that are surplus
  /// Calls of the same loaded package, in order, after which `inputs` must give what they gave before (A, B, A).
  std::vector<CaseCall> then;

  bool input_checks = false;  ///< run the package with AOTI_RUNTIME_CHECK_INPUTS=1
  int runs = 2;               ///< runs of the package on the same inputs; >= 2 feeds the `stable` oracle
  int threads = 1;            ///< at::set_num_threads
  /// Threads that make all calls, `inputs` and `then`, at the same time, each from another place on; 1: none.
  int callers = 1;
  CaseConstants constants = CaseConstants::kExported;

  size_t surplus_inputs() const;  ///< how many of the inputs are more than the program takes

  /// The further call `index` as a case of its own, run like this one.
  Case call(size_t index) const;

  friend bool operator==(const Case&, const Case&);
};

}  // namespace aotifuzz
