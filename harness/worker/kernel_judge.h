#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/flight_recorder.h"
#include "oracles/kernel_record.h"
#include "oracles/oracle.h"
#include "package/kernel_slice.h"
#include "worker/kernel_capture.h"
#include "worker/reference_program.h"

namespace aotifuzz {

/// A slice of the post-grad graph, ready to run.
struct CompiledSlice {
  KernelSlice slice;
  ProgramFacts facts;
  std::unique_ptr<ReferenceProgram> program;
};

/// Weights by name, as exported; undefined for a name that there is none of.
using WeightOf = std::function<at::Tensor(const std::string& fqn)>;

/// Judges each kernel call of a captured run: what it left behind against what eager computes from what it was given,
/// by the same rules as whole outputs (oracles/output_judge.h). Eager runs on the CPU, where a wrong index is an error
/// and no lost device. What a device's kernel left is wrong only when eager on that device does not agree with it
/// either. Loaded once; one run at a time.
class KernelJudge {
 public:
  /// `archive`: where the map comes from, for messages.
  KernelJudge(const KernelMap& map, const std::string& archive, WeightOf weight_of);
  ~KernelJudge();

  /// The package runs on the device of `snapshots`; `weight_of`: its weights there.
  void set_device(std::unique_ptr<Snapshots> snapshots, WeightOf weight_of);
  /// Why calls are never judged, by call; "" for those that are.
  const std::vector<std::string>& why_not() const { return why_not_; }
  KernelCapture& capture() { return *capture_; }
  const KernelMap& map() const { return map_; }
  /// What capture() keeps of a call.
  const CapturePlan& plan(size_t call) const { return plans_[call]; }
  /// The op that makes a value of the graph: "aten.add.Tensor"; "" for an input.
  std::string op_of(const std::string& value) const;

  struct Question {
    std::span<const CapturedCall> calls;
    std::span<const at::Tensor> inputs;  ///< of the package, as the run was given them
    bool thorough = false;               ///< see TensorQuestion
    /// Without a faulty call too, say where a wrong value enters. With one, what it was given is always compared with
    /// the reference's values.
    bool trace_back = false;
    bool every = false;  ///< go on after the first faulty call, and fill KernelRecord::calls
    FlightRecorder* recorder = nullptr;
  };
  KernelRecord judge(const Question& question);

 private:
  struct Call {
    CompiledSlice compiled;
    std::vector<int> entry_of_leaf;  ///< per leaf: index into CapturedCall::entries, or -1
    std::vector<c10::IValue> fixed;  ///< per leaf: constants and literals
    std::unique_ptr<ReferenceProgram> on_device;  ///< made when first needed
  };
  struct Verdict {
    bool judged = false;
    std::string why_not;
    std::optional<size_t> wrong;  ///< output of the slice
    TensorAnswer answer;
  };
  void prepare(size_t index);
  bool leaves_of(const Call& call, const CapturedCall& captured, std::vector<c10::IValue>* leaves,
                 std::string* why) const;
  Verdict judge_call(Call& call, const CapturedCall& captured, const Question& question);
  std::vector<at::Tensor> device_outputs(Call& call, const std::vector<c10::IValue>& leaves, FlightRecorder* recorder);
  KernelPlace place_of(size_t call, size_t argument, const std::string& value) const;
  at::Tensor value_in(const at::Tensor& buffer, const KernelLabel& label) const;
  // kernel_trace_back.cpp
  /// `judged`: calls of the map that were, in this run.
  void trace_back(const Question& question, const std::set<size_t>& judged, KernelRecord* record);
  std::map<std::string, std::string> inputs_against(const std::map<std::string, at::Tensor>& values,
                                                    const CapturedCall& captured) const;
  std::string maker_of(const Question& question, const std::set<size_t>& judged, size_t position,
                       const std::string& value, const at::Tensor& expected, bool* was_right) const;
  std::map<std::string, at::Tensor> reference_values(const Question& question);

  const KernelMap& map_;
  std::string archive_;
  WeightOf weight_of_, device_weight_of_;
  std::optional<c10::Device> device_;  ///< nullopt: the CPU
  std::vector<CapturePlan> plans_;
  std::vector<std::unique_ptr<Call>> calls_;  ///< null: not judged
  std::vector<std::string> why_not_;
  std::unique_ptr<KernelCapture> capture_;
  std::optional<CompiledSlice> whole_;  ///< all values that calls are given, from the inputs; made when first needed
};

}  // namespace aotifuzz
