#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gate/gate_crumb.h"
#include "gate/gate_device.h"
#include "gate/operator_judge.h"
#include "gate/python_fakes.h"
#include "store/gate_record.h"
#include "store/op_spec.h"

namespace aotifuzz {

struct GateServerOptions {
  std::string ops;                ///< the library whose operators are judged; "" = those that Python modules define
  std::vector<std::string> load;  ///< loaded before it, in this order
  std::string spec;               ///< path; "" = none
  std::string calls;              ///< path of lines of calls in programs, for operators that `spec` does not name
  std::vector<std::string> only;  ///< names of operators; empty: all
  GateDevice* device = nullptr;   ///< null: the CPU
  JudgeOptions judge;
  PythonOptions python;
  bool lenient = false;    ///< operators and arguments in `only` and `spec` that the library does not have are no error
  bool init_spec = false;  ///< only say how arguments would be drawn
  int jobs = 1;
  std::chrono::milliseconds step_timeout{10'000};  ///< of one call
};

/// Loads one library and judges its operators, each in a forked process: what dies or hangs there is a result. Says
/// everything as lines (store/gate_record.h) on one file descriptor. Operators of a library that was loaded before,
/// torch's own included, are not its operators. One library a process: two that register the same name end it.
class GateServer {
 public:
  GateServer(GateServerOptions options, int message_fd);
  ~GateServer();
  /// Exit code. Throws nothing: what is wrong with the world is the last line.
  int run();

  /// Deaths of one operator's processes after which it is left alone; fewer where nobody says which arguments are
  /// legal.
  static constexpr int kDeathsMax = 12;
  static constexpr int kDeathsMaxByDefault = 4;

 private:
  struct Child;
  struct Job {
    c10::OperatorHandle op;
    std::string name;
    OperatorKernels kernels;
    GateResume resume;
    const OperatorSpec* spec = nullptr;  ///< null: arguments are drawn from the schema
    int line = 0;                        ///< which of the operator's lines it is
    int lines = 1;
  };

  void load();
  /// In a process of its own, as one that has used a device must not fork. Throws HarnessError.
  void check_device();
  void load_libraries();
  void start_python();
  void choose_operators();
  void check_spec() const;
  void take_calls();
  void give_lines();
  void serve();
  c10::DispatchKey kernel_key() const { return options_.device ? options_.device->key() : c10::DispatchKey::CPU; }
  /// For what a process does now.
  std::chrono::milliseconds time_limit(const Child& child) const;
  GateOperator hello_of(const Job& job) const;
  void start(Job job);
  /// All that the process of an operator does.
  [[noreturn]] void judge(Child& child, int pipe, int python_fd);
  bool read_from(Child* child);  ///< false: its pipe is closed
  void ended(Child* child);
  void died(Child* child, int signal, bool hung);
  GateFinding finding_of_death(const Child& child, int signal, bool hung) const;
  void send(const GateMessage& message);
  void send_operator(GateOperator op);
  GateServerOptions options_;
  int message_fd_;
  OpSpec spec_;                                                     ///< of the user and of calls
  std::map<std::string, std::vector<std::string>> calls_not_used_;  ///< by operator
  bool uses_python_ = false;
  std::unique_ptr<PythonFakes> python_;  ///< null: not wanted
  std::vector<Job> jobs_;
  std::vector<GateOperator> foreign_;  ///< operators that are not judged, and why
  std::vector<std::unique_ptr<Child>> children_;
  std::vector<GateCrumb*> free_crumbs_;
};

}  // namespace aotifuzz
