#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/contract.h"
#include "core/flight_recorder.h"
#include "core/outcome.h"
#include "oracles/node_hook.h"
#include "oracles/program_facts.h"
#include "package/graph.h"
#include "worker/program_compiler.h"
#include "worker/weight_store.h"

namespace aotifuzz {

/// The ExportedProgram as something that runs: compiled once, then eager ATen calls, the same as `ep.module()` in
/// Python without its argument checks (what the contract allows is computed apart, see core/contract.h).
///
/// Mutation: in-place ops act on the tensors that they name, so inputs that the program writes change; outputs that
///           stand for mutated inputs are copied into them. Buffers are restored after each run: runs are independent.
/// Not for several threads at once.
class ReferenceProgram {
 public:
  /// `inputs` of run() follow the contract's order. What the export had on CUDA runs on `device`. Throws HarnessError
  /// for an archive that cannot be read.
  ReferenceProgram(const Program& program, const std::string& archive, const Contract& contract,
                   const ProgramFacts& facts, c10::Device device = c10::kCPU);

  /// What it cannot run, by node; not empty: run() must not be called.
  const std::vector<std::string>& unsupported() const { return unsupported_; }

  struct Options {
    NodeHook* node_hook = nullptr;
    bool wide = false;  ///< floating inputs and weights as float64, complex ones as complex128
    FlightRecorder* recorder = nullptr;
  };
  struct Results {
    Outcome outcome;                  ///< finished, rejected (an op raised) or out of memory
    std::vector<at::Tensor> outputs;  ///< flat user outputs; numbers as 0-d tensors, undefined for None
    std::vector<at::Tensor>
        inputs_after;  ///< the tensors that the run worked on, after it: `inputs`, or their wide copies
    std::vector<std::pair<std::string, at::Tensor>> watched;
  };
  /// `inputs`: tensors are used themselves (wide runs: converted copies). Never throws for what the program does.
  Results run(std::span<const c10::IValue> inputs, const Options& options);

  /// As exported, or replaced; undefined when there is none of that name.
  at::Tensor weight(const std::string& fqn) const { return weights_.find(fqn); }
  /// Later runs have these weights in place of the exported ones; empty: the exported ones. They must not be weights
  /// that the program writes.
  void replace_weights(std::map<std::string, at::Tensor> values) { weights_.replace(std::move(values)); }
  /// Does some op of it write a tensor, or hide in a submodule what it writes?
  bool writes_in_place() const { return writes_; }
  /// Does it write a weight, or may it, since it writes in place?
  bool writes_weights() const;
  /// Buffers that runs so far have written, with their values as exported: a package must start from these too.
  const std::map<std::string, at::Tensor>& written_buffers() const { return written_buffers_; }

 private:
  struct Source {
    GraphInput::Kind kind = GraphInput::Kind::kUser;
    int user = -1;    ///< index into run()'s inputs
    std::string fqn;  ///< weights
    c10::IValue constant;
  };
  struct Watch {
    int slot = -1;
    std::string name;
    int before_id = -1;  ///< recorded before this instruction reads it: later writes do not count
    int after_id = -1;   ///< or after this one has made it; both -1: an input, recorded at the start
  };
  class WeightKeeper;

  void bind_inputs(const Program& program, const Contract& contract);
  void bind_watched(const ProgramFacts& facts);
  std::vector<c10::IValue> gather(std::span<const c10::IValue> inputs, const Options& options, Results& results);
  void execute(std::vector<c10::IValue> values, const Options& options, WeightKeeper& keeper, Results& results);
  void note_written_buffers(const WeightKeeper& keeper);
  void collect(const std::vector<c10::IValue>& outputs, Results& results) const;

  CompiledGraph compiled_;
  WeightStore weights_;
  std::vector<Source> sources_;
  size_t inputs_taken_ = 0;  ///< of the user
  std::vector<GraphOutput> outputs_;
  std::vector<int> output_user_input_;  ///< per output: index of the user input that it mutates, or -1
  std::vector<Watch> watches_;
  std::vector<bool> watched_ids_;
  bool writes_ = false;  ///< some op writes a tensor
  std::map<std::string, at::Tensor> written_buffers_;
  std::vector<std::string> unsupported_;
};

}  // namespace aotifuzz
