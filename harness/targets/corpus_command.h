#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace aotifuzz {

/// `aotifuzz corpus merge|distil|stats`: folders of cases, such as a campaign's findings or what CI replays.
class CorpusCommand {
 public:
  void declare(CLI::App& app);
  int run();

 private:
  CLI::App *merge_ = nullptr, *distil_ = nullptr, *stats_ = nullptr;
  std::vector<std::string> from_;
  std::string into_, folder_;
};

}  // namespace aotifuzz
