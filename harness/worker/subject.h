#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "worker/stderr_capture.h"

namespace aotifuzz {

/// What is under test: the package, or a planted fault in its place. run() may be called by several threads once it has
/// been called by one, where no buffer is reset before runs; nothing else may.
class Subject {
 public:
  virtual ~Subject() = default;

  struct Results {
    Outcome outcome;  ///< finished, rejected, out of memory; the stage is the caller's to set
    std::vector<at::Tensor> outputs;
  };
  /// `inputs` in the contract's order, then those that are surplus. Never throws for what the subject does. `errors` is
  /// where its stderr goes; null: the exception's own text is the message.
  virtual Results run(std::span<const c10::IValue> inputs, bool input_checks, StderrCapture* errors) = 0;

  /// Weights by FQN that update_constants() can change, as they are now; empty: none.
  virtual std::map<std::string, at::Tensor> constants() const { return {}; }
  /// From now on the weights that are named have these values: put in place, or into the inactive set, which then
  /// becomes the active one. Throws what the loader throws.
  virtual void update_constants(const std::map<std::string, at::Tensor>& values, bool swap) {}
  /// All weights are as they were loaded, in the memory that they were in.
  virtual void restore_constants() {}

  /// A buffer that the program was seen to write: `value` is put into the subject before each later run.
  virtual void reset_before_runs(const std::string& fqn, const at::Tensor& value) = 0;
};

}  // namespace aotifuzz
