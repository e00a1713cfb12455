#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "gate_report/gate_verdict.h"
#include "gate_report/gate_worker.h"

namespace aotifuzz {

/// `aotifuzz gate`: are the metas of a custom operators' library right, and what does a change of it do?
class GateCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  GateRequest request() const;
  int init_spec() const;
  int judge();
  int compare();
  std::string subject() const;  ///< what is judged: the library, or the modules
  void write_reports(const std::vector<OperatorVerdict>& verdicts, const std::string& json) const;

  std::string ops_, torch_, base_, spec_, python_, json_path_, junit_path_, sarif_path_;
  std::vector<std::string> load_, only_, fakes_;
  std::string timeout_ = "10s";
  int jobs_ = 0;
  bool all_ = false, init_spec_ = false, github_ = false;
};

}  // namespace aotifuzz
