#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/kernel_texts.h"
#include "package/package_info.h"

namespace aotifuzz {

/// A call of the package and the names of what flows through it, as the generated wrapper has them.
struct FlowCall {
  struct Argument {
    std::string formal;  ///< "in_ptr0", "ks2"; "" = of an operator's call
    std::string actual;  ///< "buf0", "arg1_1", "table_weight", or an expression: "s95"
    bool read = false, written = false;
  };
  std::string kernel;  ///< "cpp_fused_add_0", "aoti_torch_cpu_cumsum"
  std::vector<Argument> arguments;
};

/// How values flow between the calls of a package, in the order of execution. From the kernel map where the package has
/// one, else from the wrapper's text, of which what is not recognised is passed over.
class KernelFlow {
 public:
  KernelFlow(const PackageInfo& package, const std::vector<KernelText>& kernels);

  const std::vector<FlowCall>& calls() const { return calls_; }
  /// Its first call; none when it is not called.
  std::optional<size_t> find(std::string_view kernel) const;
  /// What `formal` of a call is given: "input idx", "weight table.weight", "buf0 (aten.sum.dim_IntList)", for a size
  /// "rows.size(0)". "" = not known.
  std::string given(size_t call, std::string_view formal) const;
  /// Who made it: "buf0 <- cpp_fused_gt_sum_0 (call 1) <- input scores", one line for each way back to an input, the
  /// nearest call first. Empty for an input.
  std::vector<std::string> upstream(size_t call, std::string_view formal) const;
  /// The inputs that it is computed from, in order of names.
  std::vector<std::string> inputs_of(size_t call, std::string_view formal) const;
  /// The call that left `formal`'s value; none for an input or weight.
  std::optional<size_t> maker(size_t call, std::string_view formal) const;

 private:
  const FlowCall::Argument* argument(size_t call, std::string_view formal) const;
  std::optional<size_t> maker_of(size_t call, const std::string& buffer) const;
  /// "input idx" or "weight table.weight"; "" = a buffer.
  std::string outside(const std::string& actual) const;
  void walk(size_t call, const std::string& actual, std::string so_far, int depth, std::vector<std::string>* lines,
            std::vector<std::string>* inputs) const;
  void from_map();
  void from_wrapper(const std::vector<KernelText>& kernels);

  const PackageInfo& package_;
  std::vector<FlowCall> calls_;
};

/// The package's user inputs by the compiled model's order: names of the program where they are known, else the
/// wrapper's.
std::vector<std::string> compiled_input_names(const PackageInfo& package);

}  // namespace aotifuzz
