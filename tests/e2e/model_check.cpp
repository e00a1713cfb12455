// One row of corpus/models/expectations.json against the real programs: e2e_model AOTIFUZZ EXPECTATIONS MODEL
//   faulty: found from the model alone within a minute, in the right class and section, replays
//   clean:  no faults
// Exit: 0 as expected, 1 not, 77 skipped (AOTIFUZZ_MODELS is not set or the model is not packed there).
// AOTIFUZZ_E2E_CASES: cases of a clean model (2000); AOTIFUZZ_E2E_SECONDS: most seconds of a clean model (60).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/torch_version.h"
#include "tests/e2e/program.h"

namespace {

using nlohmann::json;
using namespace aotifuzz::test;

constexpr int kAsExpected = 0, kNotAsExpected = 1, kSkipped = 77;

std::string from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// Runs a campaign; the summary is null when it did not end as one should.
json fuzz(const std::string& aotifuzz, const std::string& package, const std::string& out,
          std::vector<std::string> limits) {
  std::vector<std::string> command = {aotifuzz, "fuzz", package, "--out", out, "--json"};
  command.insert(command.end(), limits.begin(), limits.end());
  const Ended ended = run_program(command);
  std::fputs(ended.err.c_str(), stdout);
  const json summary = json::parse(ended.out, nullptr, false);
  if (!summary.is_object() || summary.value("exit_code", -1) != ended.exit_code || ended.exit_code > 1) {
    std::printf("the campaign ended with %d (signal %d):\n%s\n", ended.exit_code, ended.signal, ended.out.c_str());
    return nullptr;
  }
  return summary;
}

void print_findings(const json& summary) {
  for (const json& finding : summary["findings"])
    std::printf("  %s %s: %s\n", finding["section"].get<std::string>().c_str(),
                finding["class"].get<std::string>().c_str(), finding["signature"].get<std::string>().c_str());
}

int check_faulty(const std::string& aotifuzz, const std::string& package, const json& row) {
  const ScratchFolder scratch;
  // Most show within seconds; each run goes on where the one before stopped. One minute in all.
  for (const char* seconds : {"8s", "17s", "35s"}) {
    const json summary = fuzz(aotifuzz, package, scratch / "out", {"--for", seconds});
    if (summary.is_null()) return kNotAsExpected;
    for (const json& finding : summary["findings"]) {
      const auto& classes = row["classes"];
      if (finding["section"] != row["section"] ||
          std::find(classes.begin(), classes.end(), finding["class"]) == classes.end())
        continue;
      const std::string folder = finding["folder"];
      const Ended replayed = run_program({aotifuzz, "replay", folder, "--fail-on", "gaps"});
      std::printf("%s\n", replayed.out.c_str());
      if (replayed.exit_code == 1 && replayed.out.find("still fails") != std::string::npos) return kAsExpected;
      std::printf("found, but the replay says otherwise (exit %d)\n%s", replayed.exit_code, replayed.err.c_str());
    }
    print_findings(summary);
  }
  std::printf("not found within a minute as %s of class %s\n", row["section"].get<std::string>().c_str(),
              row["classes"].dump().c_str());
  return kNotAsExpected;
}

int check_clean(const std::string& aotifuzz, const std::string& package) {
  const ScratchFolder scratch;
  const json summary = fuzz(aotifuzz, package, scratch / "out",
                            {"--cases", from_environment("AOTIFUZZ_E2E_CASES", "2000"), "--for",
                             from_environment("AOTIFUZZ_E2E_SECONDS", "60") + "s"});
  if (summary.is_null()) return kNotAsExpected;
  print_findings(summary);
  const int cases = summary["cases"], judged = summary["judged"], faults = summary["known_faults"];
  std::printf("%d cases, %d judged, %d faults\n", cases, judged, faults);
  return faults == 0 && cases > 0 && judged * 2 > cases ? kAsExpected : kNotAsExpected;
}

/// The row as it is for the torch that compiled the package. Null when nothing says which that is.
json row_for(const std::string& aotifuzz, const std::string& package, json row) {
  const json about = json::parse(run_program({aotifuzz, "inspect", package, "--json"}).out, nullptr, false);
  const auto version =
      aotifuzz::parse_torch_version(about.is_object() && about.contains("pack") ? about["pack"].value("torch", std::string()) : "");
  if (!version) return nullptr;
  for (const json& other : row.value("by_torch", json::array())) {
    const auto range = aotifuzz::TorchRange::parse(other.value("torch", std::string("?")));
    if (!range) return nullptr;
    if (range->holds(*version)) row.update(other);
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: e2e_model AOTIFUZZ EXPECTATIONS MODEL\n");
    return 2;
  }
  const std::string aotifuzz = argv[1], model = argv[3];
  std::ifstream in(argv[2]);
  const std::string package = packed_model(model);
  if (package.empty()) {
    std::printf("skipped: AOTIFUZZ_MODELS is not set or has no %s.pt2; tests/run.sh packs it\n", model.c_str());
    return kSkipped;
  }
  const json row = row_for(aotifuzz, package, json::parse(in)["models"][model]);
  if (row.is_null()) {
    std::printf("the package does not say which torch compiled it, or the row's by_torch has no range of versions\n");
    return kNotAsExpected;
  }
  return row["section"] == "clean" ? check_clean(aotifuzz, package) : check_faulty(aotifuzz, package, row);
}
