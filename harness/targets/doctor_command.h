#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aotifuzz {

/// `aotifuzz doctor`: would this installation notice?
class DoctorCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  std::string device_, torch_;
  bool json_ = false;
};

}  // namespace aotifuzz
