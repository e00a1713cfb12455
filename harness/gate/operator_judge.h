#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gate/fake_client.h"
#include "gate/gate_crumb.h"
#include "gate/kernel_checks.h"
#include "gate/operator_call.h"
#include "gate/size_family.h"
#include "store/gate_record.h"

namespace aotifuzz {

/// What is known of an operator from the dispatcher and its library alone.
struct OperatorKernels {
  bool meta = false;        ///< a C++ meta, or a composite kernel that serves as one
  bool kernel = false;      ///< one for the device whose kernels are judged, composite ones included
  bool decomposed = false;  ///< only a composite kernel: tracing sees the operators that it calls, not its schema
  std::string why_no_meta;  ///< "" = nothing explains it: a fault
  // In Python, where `meta` or `kernel` say that there is one and C++ has none (python_kernels.h):
  bool python_meta = false;
  bool python_cpu = false;
  SourcePlace meta_place, cpu_place;
};
OperatorKernels kernels_of(const c10::OperatorHandle& op, bool library_uses_python,
                           c10::DispatchKey key = c10::DispatchKey::CPU);

struct JudgeOptions {
  std::set<int64_t> extra_constants;             ///< sizes around these are tried too
  c10::DispatchKey key = c10::DispatchKey::CPU;  ///< of the kernels
  bool values = false;                           ///< report what was said at each point: for comparing two libraries
};

/// Judges one operator in a process of its own. Reports in parts as it goes, so that a death loses nothing.
class OperatorJudge {
 public:
  using Report = std::function<void(GateOperator)>;

  /// `spec` null: arguments are drawn from the schema. `python_fd`: of PythonFakes::connect(), for kernels in Python;
  /// else -1.
  OperatorJudge(const c10::OperatorHandle& op, const OperatorSpec* spec, const OperatorKernels& kernels,
                const JudgeOptions& options, KernelMemory& memory, GateCrumb* crumb, int python_fd, Report report);

  void run(const GateResume& resume);

  /// What to do about a fake in Python that needs a number.
  static constexpr char kPythonChange[] =
      "compute with the torch.SymInt to the end: int(), range(), list repetition and the like ask it for a number";
  static constexpr size_t kAlternativesMax = 8;
  static constexpr int64_t kElementsMax = int64_t{1} << 19;  ///< of one tensor
  /// Of one tensor without memory; leaves room for what a meta multiplies before int64 overflows.
  static constexpr int64_t kElementsMaxSymbolic = int64_t{1} << 40;
  static constexpr int64_t kWorkMax = int64_t{24} << 20;  ///< elements of all points together

 private:
  /// Of one alternative and layout: what the symbolic run says for every size.
  struct Symbolic {
    bool finished = false;
    bool exact = false;  ///< finished, and nothing in it was asked for a number
    std::vector<TensorFacts> facts;
    std::vector<SizeExprPtr> path;  ///< conditions under which it went this way
    std::vector<UnbackedSize> unbacked;
  };

  bool draw(const GateResume& resume);
  /// Of a call: integers that the kernel takes at its sizes.
  void choose_integers(const GateResume& resume);
  /// Is a kernel's refusal or death nobody's fault, as far as is known?
  bool legality_is_unknown(const std::string& arguments) const;
  bool accepts(const DrawnArguments& drawn);
  CallResult run_meta(const CallPoint& point, RunKind kind);
  CallResult run_kernel(const CallPoint& point);
  void run_symbolically(bool reporting);
  void run_symbolic_point(const CallPoint& point, const std::string& key, bool reporting);
  void report_events(const CallPoint& point, const CallResult& result);
  void mine(const CallResult& result);
  void run_points(const GateResume& resume);
  /// False: the kernel refuses it.
  bool run_point(const CallPoint& point, const std::string& key);
  void compare(const CallPoint& point, const CallResult& meta, const CallResult& kernel, const std::string& key);
  void compare_expression(const CallPoint& point, const CallResult& meta, const CallResult& kernel,
                          const std::string& key);
  void leave_crumb(GateCrumb::Phase phase, int64_t step, const CallPoint& point);
  void add_finding(const CallPoint& point, GateFinding finding, const std::vector<void*>& frames = {},
                   const SourcePlace& place = {});
  /// Where the finding's side of the operator stands, for when nothing better is known.
  void place_finding(GateFinding* finding, const SourcePlace& place) const;
  void note(std::string text);
  std::string values_text(const SymbolValues& values) const;
  std::string key_of(const CallPoint& point) const;

  c10::OperatorHandle op_;
  const OperatorSpec* spec_;
  OperatorKernels kernels_;
  JudgeOptions options_;
  KernelMemory& memory_;
  GateCrumb* crumb_;
  Report report_;
  std::string name_;
  DrawnArguments drawn_;
  FakeClient python_;
  std::unique_ptr<OperatorCall> call_;
  std::unique_ptr<KernelChecks> checks_;
  std::unique_ptr<SizeFamily> family_;
  std::vector<std::vector<int>> alternatives_;
  std::set<int64_t> mined_;
  std::map<std::string, Symbolic> symbolic_;  ///< by key_of()
  std::string unruled_, without_meta_, not_followed_;
  std::string no_kernel_;
  int64_t points_ = 0, refused_ = 0, left_out_ = 0, out_of_memory_ = 0;
  std::map<std::string, int64_t> refused_layouts_;
  std::set<std::string> seen_;  ///< findings at which nothing new is to be said
};

}  // namespace aotifuzz
