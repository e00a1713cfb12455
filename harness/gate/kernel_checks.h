#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate/kernel_memory.h"
#include "gate/operator_call.h"
#include "store/gate_record.h"

namespace aotifuzz {

/// Takes what was found at a point.
using FindingSink = std::function<void(const CallPoint&, GateFinding)>;

/// What the kernel does to memory, called with inputs and outputs that end where guarded memory begins. What it touches
/// beyond them ends the process (gate_crumb.h); what it damages within the alignment, changes, shares or leaves
/// unwritten is found here.
class KernelChecks {
 public:
  KernelChecks(const OperatorCall& call, KernelMemory& memory, FindingSink sink)
      : call_(call), memory_(memory), sink_(std::move(sink)) {}

  /// Runs the kernel at `point` and returns what it did. What is wrong goes to the sink.
  CallResult run(const CallPoint& point);
  /// What is said of an input that was changed, or that output `output` shares its memory with, against the schema.
  static GateFinding changed_input(const std::string& name);
  static GateFinding shared_input(int output, const std::string& name);
  /// After the last point: what only shows over all of them.
  void finish(std::vector<std::string>* notes);

 private:
  CallResult guarded(const CallPoint& point, uint8_t poison, bool at_start, bool judged);
  void look_for_unwritten(const CallPoint& point, const CallResult& first);
  /// Does an output hold the same bytes whenever memory held the same, on either pattern?
  std::optional<bool> repeats(const CallPoint& point, size_t output, const std::vector<char>& first,
                              const std::vector<char>& second);

  const OperatorCall& call_;
  KernelMemory& memory_;
  FindingSink sink_;
  std::vector<std::pair<CallPoint, GateFinding>> wholly_unwritten_;
  bool wrote_something_ = false;
  bool is_random_ = false;
};

}  // namespace aotifuzz
