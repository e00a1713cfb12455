#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aotifuzz {

/// `aotifuzz audit`: what a package declares, what it enforces and where it is safe.
class AuditCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string package_, model_, reference_, device_, torch_, out_, html_, fail_on_, trace_;
  std::string time_ = "60s", timeout_ = "10s", checks_ = "off";
  std::vector<std::string> ops_;
  bool json_ = false;
};

}  // namespace aotifuzz
