// Replays the corpus of known failures: e2e_corpus AOTIFUZZ CORPUS. Exit as model_check.cpp.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/e2e/program.h"

int main(int argc, char** argv) {
  using namespace aotifuzz::test;
  if (argc != 3) return 2;
  bool any = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[2]))
    any = any || entry.path().filename() == "case.txt";
  if (!any || !std::getenv("AOTIFUZZ_MODELS")) {
    std::printf("skipped: %s\n", any ? "AOTIFUZZ_MODELS is not set" : "the corpus has no case");
    return 77;
  }
  const Ended ended = run_program({argv[1], "replay", argv[2], "--expect-failing"});
  std::printf("%s%s", ended.out.c_str(), ended.err.c_str());
  return ended.exit_code;
}
