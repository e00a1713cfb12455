#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/flight_recorder.h"
#include "oracles/node_hook.h"
#include "worker/flat_program.h"

namespace aotifuzz {

/// Runs blocks: one pass over the instructions, boxed calls into c10's dispatcher, no names and no JSON. Holds the
/// state of one run; single-threaded. Errors of an op leave as the exceptions that the op threw.
class Interpreter {
 public:
  struct Hooks {
    NodeHook* node_hook = nullptr;       ///< around each ATen op; asserts about dtypes are then not run
    FlightRecorder* recorder = nullptr;  ///< gets the target of each op before it runs
    /// Called before an op writes a tensor argument, and before a value that must be watched is lost.
    std::function<void(const at::Tensor&)> before_write;
    /// Called after the instruction with this position in the top block has run; frame = its slots.
    std::function<void(const Instruction&, std::span<const c10::IValue> frame, bool before)> around_instruction;
    const std::vector<bool>* watched_nodes = nullptr;  ///< by OpInfo::id: for which ids around_instruction is called
  };

  explicit Interpreter(Hooks hooks) : hooks_(std::move(hooks)) {}

  /// Inputs by position; outputs as the graph has them, lists as IValue lists.
  std::vector<c10::IValue> run(const Block& block, std::vector<c10::IValue> inputs);

 private:
  void run_instruction(const Instruction& instruction, std::vector<c10::IValue>& frame);
  void run_op(const Instruction& instruction, std::vector<c10::IValue>& frame);
  void run_higher_order(const Instruction& instruction, std::vector<c10::IValue>& frame);
  void store(const Instruction& instruction, std::vector<c10::IValue>&& values, std::vector<c10::IValue>& frame);

  Hooks hooks_;
  torch::jit::Stack stack_;
};

/// The value of an operand in a frame, coerced.
c10::IValue evaluate(const Operand& operand, std::span<const c10::IValue> frame);

}  // namespace aotifuzz
