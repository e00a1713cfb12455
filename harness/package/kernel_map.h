#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/expr.h"
#include "package/graph.h"

namespace aotifuzz {

/// A value of the post-grad graph that a kernel's buffer holds, and how it lies there.
struct KernelLabel {
  enum class Rule : uint8_t {
    kSame,    ///< the buffer holds the value
    kDivide,  ///< value = buffer / `by`: a mean kept as its sum, a variance as its sum of squares
    kCast,    ///< value = buffer in the value's dtype
  };
  std::string value;                 ///< name in KernelMap::graph
  std::vector<Expr> sizes, strides;  ///< in elements, from the pointer that is passed
  Expr offset;
  Rule rule = Rule::kSame;
  Expr by;
};

struct KernelArgument {
  enum class Role : uint8_t { kIn, kOut, kInOut, kSize, kOther };
  int at = 0;        ///< position among the C arguments; of a proxy call: among its tensors
  int element = -1;  ///< of an argument that is a list of tensors; -1: it is none
  std::string name;  ///< "in_ptr0"
  Role role = Role::kOther;
  Expr expression;                 ///< kSize
  std::string buffer;              ///< inductor's name: "buf0", "arg5_1"
  Dtype dtype = Dtype::kUnknown;   ///< of the buffer
  std::vector<KernelLabel> entry;  ///< what it holds when the call begins (kIn, kInOut)
  std::vector<KernelLabel> exit;   ///< and when it has returned (kOut, kInOut)
};

/// One kernel call of the package, in the order of execution.
struct MappedCall {
  enum class Kind : uint8_t {
    kCpp,     ///< generated C++
    kShim,    ///< a function of torch's C interface: handles of tensors among its arguments
    kProxy,   ///< an op called through the proxy executor
    kTriton,  ///< a launch
  };
  std::string kernel;  ///< the symbol that is called
  Kind kind = Kind::kCpp;
  std::vector<std::string> nodes;      ///< of the graph that it implements
  std::vector<std::string> signature;  ///< kShim: C types of its parameters
  int64_t node_index = -1;             ///< kProxy
  std::vector<KernelArgument> arguments;
  bool judged = false;  ///< what it leaves behind can be computed from what it is given
  std::string why_not;  ///< else why
};
std::string_view kernel_kind_name(MappedCall::Kind kind);  ///< "cpp", "shim", "proxy", "triton"
std::string_view kernel_role_name(KernelArgument::Role role);
std::string argument_name(const KernelArgument& argument);  ///< its name; without one, "argument 3"

/// Where an input of the post-grad graph comes from.
struct MapInput {
  enum class Kind : uint8_t { kUser, kConstant, kLiteral, kUnknown };
  Kind kind = Kind::kUnknown;
  std::string value;   ///< name in the graph
  int64_t index = -1;  ///< kUser: among the tensors that the package takes
  std::string fqn;     ///< kConstant: of the parameter or buffer
  Dtype dtype = Dtype::kUnknown;
  std::vector<int64_t> sizes;
  std::vector<double> data;  ///< kLiteral: its elements
};

/// Where a symbol's number can be read off the package's inputs.
struct SymbolSource {
  int64_t input = 0;  ///< among the tensors that the package takes
  bool stride = false;
  int64_t dim = 0;
  int64_t by = 1;  ///< what stands there is the symbol times this
};

/// Which graph values each kernel call of a package is given and leaves behind: pack's sidecar extra/kernel_map.json.
/// The graph is what inductor lowered, after all its passes. Plain values, no torch.
struct KernelMap {
  static constexpr int kSchema = 1;
  std::string torch_version;
  Graph graph;
  std::vector<MapInput> inputs;  ///< one per graph input
  std::map<std::string, SymbolSource> symbols;
  std::map<std::string, Expr> precomputed;  ///< names in kernel arguments that stand for expressions
  std::vector<MappedCall> calls;
  std::vector<std::string> notes;  ///< what it does not cover
  /// Text of kernels that the package holds as machine code only: Triton's.
  std::map<std::string, std::string> sources;

  const MapInput* find_input(std::string_view value) const;
};

/// Reads the sidecar. A call whose arguments name values that the graph does not have is an error.
Result<KernelMap> parse_kernel_map(std::string_view json_text);

}  // namespace aotifuzz
