#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace aotifuzz {

/// `--known FILE --strict-known`, and for campaigns `--baseline DIR`: findings that do not fail the run.
struct ExcuseOptions {
  std::string known, baseline;
  bool strict = false;

  void declare(CLI::App& app, bool with_baseline) {
    CLI::Option* file = app.add_option(
        "--known", known,
        "Known issues: findings that match are listed and fail nothing (campaign/known_issues.h has the format)");
    app.add_flag("--strict-known", strict, "Exit 1 when a case of a known issue no longer fails")->needs(file);
    if (with_baseline)
      app.add_option("--baseline", baseline,
                     "Folder of an earlier campaign or a corpus: findings with a signature that it has fail nothing");
  }
};

}  // namespace aotifuzz
