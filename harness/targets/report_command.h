#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aotifuzz {

/// `aotifuzz report`: writes a campaign folder's report.html anew.
class ReportCommand {
 public:
  void declare(CLI::App& app) {
    app.add_option("DIR", folder_, "Folder of a campaign: the --out of aotifuzz fuzz")->required();
  }
  int run();

 private:
  std::string folder_;
};

}  // namespace aotifuzz
