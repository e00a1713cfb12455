#include "targets/ci_options.h"

#include <cstdio>
#include <cstdlib>

#include "campaign/ci_items.h"
#include "store/result_file.h"

namespace aotifuzz {

void CiOptions::declare(CLI::App& app) {
  app.add_option("--junit", junit_, "Also write the result to this file as JUnit XML");
  app.add_option("--sarif", sarif_, "Also write the result to this file as SARIF 2.1.0");
  app.add_flag("--github", github_, "Also print GitHub annotations: one line for each failure");
}

void CiOptions::annotate_on_github() {
  const char* runs_there = std::getenv("GITHUB_ACTIONS");
  github_ |= runs_there && std::string(runs_there) == "true";
}

void CiOptions::check(const std::vector<std::string>& inputs, std::vector<ResultFile> others) const {
  others.insert(others.begin(), {{"--junit", junit_}, {"--sarif", sarif_}});
  require_result_files(others, inputs);
}

void CiOptions::write(CiReport report, bool stdout_is_json) const {
  report.tool_version = AOTIFUZZ_VERSION;
  report.rules = ci_rules();
  if (!junit_.empty()) write_result_file(junit_, junit_xml(report));
  if (!sarif_.empty()) write_result_file(sarif_, sarif_json(report));
  if (!github_) return;
  const std::string text = github_annotations(report);
  std::fwrite(text.data(), 1, text.size(), stdout_is_json ? stderr : stdout);
}

}  // namespace aotifuzz
