#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "gate/source_place.h"

namespace aotifuzz {

struct PythonOptions {
  bool wanted = false;
  std::string python;                ///< program; "" = the one beside the torch that is loaded, else python3 of PATH
  std::string pack;                  ///< the folder that holds aotifuzz_pack
  std::vector<std::string> modules;  ///< names, or paths of files that end in .py
};

/// What Python knows of an operator.
struct PythonOperator {
  std::string schema;
  bool defined_in_python = false;
  bool fake = false;    ///< something serves as its fake, in Python or not
  bool kernel = false;  ///< so for its CPU kernel
  SourcePlace fake_place, kernel_place;
};

/// The Python process that has the library and the modules loaded and forks one for each operator
/// (harness/pack/aotifuzz_pack/fakes.py). What goes wrong with modules is kept as a reason for the operators that are
/// not judged then; what is wrong with Python itself throws HarnessError. The process ends with this object's.
class PythonFakes {
 public:
  /// `libraries`: loaded in Python first, in this order. `operators`: names that are asked about. `import_limit`: of
  /// the modules together.
  PythonFakes(const PythonOptions& options, const std::vector<std::string>& libraries,
              const std::vector<std::string>& operators, std::chrono::milliseconds import_limit);
  ~PythonFakes();
  PythonFakes(const PythonFakes&) = delete;
  PythonFakes& operator=(const PythonFakes&) = delete;

  /// Why no operator, or not each, can be judged: "module m was not imported: ..."; "" = all is well.
  const std::string& trouble() const { return trouble_; }
  bool serves() const { return serves_; }
  const std::vector<std::string>& modules() const { return options_.modules; }
  bool imported(const std::string& module) const;  ///< by name, or as a file of that name
  const std::map<std::string, PythonOperator>& operators() const { return operators_; }

  /// A stream socket to a new process for one operator (fake_client.h); -1: the process is gone.
  int connect();

 private:
  void start(const std::vector<std::string>& libraries, const std::vector<std::string>& operators);
  /// A line of the process; throws nothing. Empty: it said none, and `trouble_` says why.
  std::string line(std::chrono::milliseconds limit, const std::string& doing);
  void take_hello(const std::string& text);
  /// How it ended, with the last lines that it printed.
  std::string death();

  PythonOptions options_;
  std::string program_;
  pid_t pid_ = -1;
  int control_ = -1, log_ = -1;
  std::string pending_, trouble_;
  bool serves_ = false;
  std::map<std::string, bool> imported_;
  std::map<std::string, PythonOperator> operators_;
};

}  // namespace aotifuzz
