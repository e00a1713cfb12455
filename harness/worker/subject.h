#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "worker/stderr_capture.h"

namespace aotifuzz {

/// What is under test: the package, or a planted fault in its place. Not thread-safe.
class Subject {
 public:
  virtual ~Subject() = default;

  struct Results {
    Outcome outcome;  ///< finished, rejected, out of memory; the stage is the caller's to set
    std::vector<at::Tensor> outputs;
  };
  /// `inputs` in the contract's order. Never throws for what the subject does. `errors` is where its stderr goes; null:
  /// the exception's own text is the message.
  virtual Results run(std::span<const c10::IValue> inputs, bool input_checks, StderrCapture* errors) = 0;

  /// A buffer that the program was seen to write: `value` is put into the subject before each later run.
  virtual void reset_before_runs(const std::string& fqn, const at::Tensor& value) = 0;
};

}  // namespace aotifuzz
