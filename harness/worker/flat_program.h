#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracles/node_hook.h"

namespace aotifuzz {

/// What the interpreter runs: a graph of the export schema with every name resolved. Made by program_compiler.h.

/// What must be done to a value of the program before it fits the schema's argument. Constants are converted at load.
enum class Coercion : uint8_t {
  kNone,
  kTensor,  ///< a number becomes a 0-d "wrapped number" tensor, as Python's argument parser does
  kScalar,  ///< a 0-d tensor becomes its number
  kInt,     ///< bool or 0-d tensor to int
  kFloat,   ///< int or 0-d tensor to float
};

/// Type of a list argument that is put together at run time.
enum class ListType : uint8_t { kGeneric, kTensor, kOptionalTensor, kInt, kFloat, kBool };

struct Operand {
  enum class Kind : uint8_t { kSlot, kConstant, kList };
  Kind kind = Kind::kConstant;
  Coercion coercion = Coercion::kNone;
  ListType list_type = ListType::kGeneric;
  int slot = -1;               ///< kSlot
  c10::IValue constant;        ///< kConstant
  std::vector<Operand> items;  ///< kList
};

/// Where one result goes: a slot, several slots (a list result), or nowhere (-1).
struct ResultPlace {
  int slot = -1;
  bool is_list = false;
  std::vector<int> items;
};

struct Block;
class Interpreter;

/// A Python function on numbers ("_operator.mul", "torch.sym_max"): arguments are ints, floats, bools.
using NumberFunction = c10::IValue (*)(const std::vector<c10::IValue>& arguments);

/// One argument of a higher-order op: a value, a list of values, or a sub-graph.
struct HigherOrderArgument {
  c10::IValue value;
  std::vector<c10::IValue> list;
  const Block* block = nullptr;
  std::string name;  ///< keyword; "" for positional
};
using HigherOrderFunction = std::vector<c10::IValue> (*)(Interpreter&, const std::vector<HigherOrderArgument>&);

struct Instruction {
  NodeHook::OpInfo info;
  // Exactly one of the three is set.
  std::optional<c10::OperatorHandle> op;
  NumberFunction number_function = nullptr;
  HigherOrderFunction higher_order = nullptr;

  std::vector<Operand> arguments;
  std::vector<std::string> keywords;           ///< higher-order ops: per argument, "" for positional
  std::vector<std::shared_ptr<Block>> blocks;  ///< per argument; null where it is no sub-graph
  std::vector<ResultPlace> results;
  std::vector<int> written;      ///< positions of arguments whose tensors the op writes
  std::vector<int> frees;        ///< slots whose last use this is
  bool checks_metadata = false;  ///< aten._assert_tensor_metadata: meaningless when a hook changes dtypes
};

/// A graph or sub-graph. Slots of a block are its own: export passes everything that a sub-graph uses as operands.
struct Block {
  int slots = 0;
  std::vector<int> inputs;  ///< slot per graph input
  std::vector<Instruction> code;
  std::vector<Operand> outputs;  ///< flat or nested lists, as the graph has them
};

}  // namespace aotifuzz
