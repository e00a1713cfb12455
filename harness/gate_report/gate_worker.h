#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "store/gate_record.h"

namespace aotifuzz {

/// What one worker program is asked.
struct GateRequest {
  std::string worker_folder;   ///< where the worker programs lie; "" = beside this program
  std::string device = "cpu";  ///< whose kernels are judged: "cpu", "cuda:N"
  std::string ops;
  std::vector<std::string> load;
  std::string spec;
  std::string calls;  ///< lines as a spec has them, of calls in programs; "" = none
  std::vector<std::string> only;
  std::vector<int64_t> constants;  ///< sizes around these are tried too
  bool use_python = false;         ///< fakes in Python are judged: `fakes`, and the modules that the library names
  std::string python;              ///< program; "" = the worker looks for one
  std::vector<std::string> fakes;  ///< modules
  bool values = false;
  bool init_spec = false;
  bool lenient = false;  ///< operators and arguments in `spec` and `only` that the library does not have are no error
  int jobs = 1;
  std::chrono::milliseconds step_timeout{10'000};
  std::chrono::milliseconds load_timeout{300'000};  ///< loading a large library from a cold disk takes minutes
};

/// What it said.
struct GateRun {
  GateLibrary library;
  std::vector<GateOperator> operators;  ///< in order of their names
};

/// Runs the worker on one library to its end. `progress`, where it is not null, is called with the number of operators
/// that are through. Throws HarnessError when the library cannot be loaded or the worker dies with it.
GateRun run_gate_worker(const GateRequest& request, void (*progress)(int done, int of) = nullptr);

}  // namespace aotifuzz
