#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/dtype.h"
#include "core/expr.h"

namespace aotifuzz {

struct Graph;

/// Size, stride... of the export: a number or an expression over export's symbols.
using SymDim = Expr;

struct TensorMeta {
  Dtype dtype = Dtype::kUnknown;
  std::vector<SymDim> sizes;
  std::vector<SymDim> strides;
  SymDim offset;
  std::string device = "cpu";
  bool requires_grad = false;
  int layout = 7;  ///< export schema code, 7 = strided
};

/// One argument of a node, as the export schema's union; list kinds hold `items`.
struct Argument {
  enum class Kind : uint8_t {
    kNone, kTensor, kInt, kFloat, kBool, kString, kComplex,
    kSymInt,      ///< `name` of a sym value of the graph
    kSymFloat, kSymBool,
    kScalarType, kMemoryFormat, kLayout,  ///< schema code in `integer`
    kDevice,      ///< "cpu" or "cuda:0" in `name`
    kGraph,       ///< sub-graph of a higher-order op
    kCustomObj,   ///< `name`
    kOperator,    ///< `name` of an op
    kList,        ///< `items`: tensors, optional tensors (kNone entries), ints, sym ints (mixed), floats, bools, strings, lists
    kDict,        ///< `keys` beside `items`
    kUnknown,     ///< an arm of the union that this reader does not know; `name` says which
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double real = 0;
  double imag = 0;
  bool boolean = false;
  std::string name;               ///< tensor, sym value, string, device, operator
  std::vector<Argument> items;
  /// For an empty kList: the kind its elements would have had (as_ints -> kInt, as_tensors -> kTensor).
  Kind element_kind = Kind::kNone;
  std::vector<std::string> keys;
  std::shared_ptr<Graph> graph;
};

struct Node {
  std::string name;
  std::string target;            ///< "torch.ops.aten.add.Tensor", "_operator.mul", "torch.ops.higher_order.cond"
  struct Input { std::string name; Argument value; bool keyword = false; };
  std::vector<Input> inputs;     ///< as serialised: arguments left at their schema default may be absent
  std::vector<Argument> outputs; ///< kTensor / kList of kTensor / kSymInt ... / kNone
  std::string stack_trace;       ///< model source lines, "" when export kept none
};

/// One graph of the ExportedProgram schema (major 8, minor >= 17). Values are named; names are unique in a graph.
struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensors;
  std::map<std::string, Expr> sym_ints;      ///< expression over symbols, or a constant
  std::map<std::string, std::string> sym_floats;  ///< text of the expression
  std::map<std::string, std::string> sym_bools;
  bool is_single_tensor_return = false;
};

/// Where an input of the top graph comes from.
struct GraphInput {
  enum class Kind : uint8_t { kUser, kParameter, kBuffer, kTensorConstant, kConstant, kCustomObj, kToken };
  Kind kind = Kind::kUser;
  std::string name;     ///< placeholder name in the graph
  std::string target;   ///< parameter or buffer FQN, constant name
  Argument value;       ///< kConstant: the fixed value
};

/// What an output of the top graph is.
struct GraphOutput {
  enum class Kind : uint8_t { kUser, kLoss, kBufferMutation, kParameterMutation, kUserInputMutation, kGradient, kToken };
  Kind kind = Kind::kUser;
  Argument value;
  std::string target;   ///< mutated buffer FQN or user input name
};

/// A weight or constant of the archive.
struct WeightInfo {
  std::string fqn;
  std::string member;   ///< full archive member name of the raw bytes
  TensorMeta meta;
  bool pickled = false; ///< saved with torch.save instead of raw bytes (strided tensors never are)
};

/// One ExportedProgram, read from `models/NAME.json` of a `.pt2` archive. Plain values, no torch.
struct Program {
  std::string model_name;
  std::string torch_version;
  int schema_major = 0, schema_minor = 0;
  Graph graph;
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  struct Range { std::optional<int64_t> min, max; };
  std::map<std::string, Range> range_constraints;  ///< by symbol or expression text ("2*s81")
  std::vector<std::string> guards_code;            ///< Python text
  std::vector<WeightInfo> weights;                 ///< parameters, buffers, tensor constants
  std::string in_spec, out_spec;                   ///< pytree specs as stored
};

}  // namespace aotifuzz
