#pragma once

#include <nlohmann/json.hpp>

#include "gate/gate_crumb.h"
#include "gate/kernel_checks.h"
#include "gate/operator_call.h"

namespace aotifuzz {

/// Calls one operator in a Python process of its own (python_fakes.h): its fake with symbols or numbers, or its kernel
/// where that is Python too. A process that does not answer is not waited for here: the server's watch ends us both.
class FakeClient {
 public:
  /// `fd`: of PythonFakes::connect(); -1 is none. Takes it over.
  FakeClient(int fd, std::string op_name, const c10::FunctionSchema& schema, GateCrumb* crumb)
      : fd_(fd), op_name_(std::move(op_name)), schema_(schema), crumb_(crumb) {}
  ~FakeClient();
  FakeClient(const FakeClient&) = delete;
  FakeClient& operator=(const FakeClient&) = delete;

  /// kSymbolic and kMeta run the fake, kKernel the kernel. Where its process ends over it, this one does so too, with
  /// the cause in the crumb.
  CallResult run(const DrawnArguments& drawn, const CallPoint& point, RunKind kind);
  /// A kernel's run, with what it changes and shares against the schema said to `sink`.
  CallResult run_kernel(const OperatorCall& call, const DrawnArguments& drawn, const CallPoint& point,
                        const FindingSink& sink);

 private:
  nlohmann::json ask(const nlohmann::json& request);
  [[noreturn]] void end(const std::string& cause);
  nlohmann::json argument(const DrawnArguments& drawn, size_t index, const SpecValue& value) const;

  int fd_;
  std::string op_name_;
  const c10::FunctionSchema& schema_;
  GateCrumb* crumb_;
  std::string pending_;
  int64_t asked_ = 0;         ///< requests; each answer carries its number
  std::vector<int> changed_;  ///< by the last kernel: inputs
};

}  // namespace aotifuzz
