#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "campaign/scratch_folder.h"
#include "gate_report/gate_verdict.h"
#include "gate_report/gate_worker.h"
#include "gate_report/program_calls.h"

namespace aotifuzz {

/// `aotifuzz gate`: are the metas of a custom operators' library right, and what does a change of it do?
class GateCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  GateRequest request();
  /// Writes the lines of all calls into a file for the worker.
  void read_calls();
  int init_spec();
  int judge();
  int compare();
  std::string subject() const;  ///< what is judged: the library, or the modules
  void write_reports(const std::vector<OperatorVerdict>& verdicts, const std::string& json) const;

  std::string ops_, torch_, base_, spec_, python_, json_path_, junit_path_, sarif_path_;
  std::vector<std::string> load_, only_, fakes_, from_;
  std::vector<ProgramCalls> programs_;
  std::optional<ScratchFolder> scratch_;  ///< for the lines of calls, which the worker reads
  std::string timeout_ = "10s", device_ = "cpu";
  int jobs_ = 0;
  bool all_ = false, init_spec_ = false, github_ = false;
};

}  // namespace aotifuzz
