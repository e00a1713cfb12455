// `--trace DIR` with a trace that torch writes while it compiles the package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

/// A model of the corpus, packed once for all tests here while TORCH_TRACE is on.
class CompileTrace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new ScratchFolder;
    packed_ = run_program(
        {"env", "PYTHONPATH=" AOTIFUZZ_PACK, "TORCH_TRACE=" + trace(), AOTIFUZZ_PYTHON, "-m", "aotifuzz_pack",
         AOTIFUZZ_SOURCES "/corpus/models/faults.py:f150364_branch_on_size", "-o", package()},
        folder_->path());
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override { ASSERT_EQ(packed_.exit_code, 0) << packed_.err; }

  static std::string package() { return *folder_ / "model.pt2"; }
  static std::string trace() { return *folder_ / "trace"; }

  json said(std::vector<std::string> arguments, int code = 0) {
    for (const char* more : {"--json", "--trace"}) arguments.push_back(more);
    arguments.push_back(trace());
    const Ended ended = aotifuzz(arguments, folder_->path());
    EXPECT_EQ(ended.exit_code, code) << ended.err;
    return json::parse(ended.out, nullptr, false);
  }

  static ScratchFolder* folder_;
  static Ended packed_;
};
ScratchFolder* CompileTrace::folder_ = nullptr;
Ended CompileTrace::packed_;

constexpr const char* kBranch = "return x.sin() if x.shape[0] > 5 else x.cos()";

TEST_F(CompileTrace, InspectNamesTheModelsLines) {
  const json report = said({"inspect", package()});
  const json traced = report["compile_time_trace"];
  ASSERT_TRUE(traced.is_object()) << report.dump(1);
  EXPECT_EQ(traced["match"], "the package holds the wrapper that the trace names");
  EXPECT_EQ(traced["unreadable"], 0);
  EXPECT_EQ(traced["symbols"][0]["dimension"], "x.size(0)");
  bool found = false;
  for (const json& guard : traced["guards"])
    found |=
        guard["condition"] == "x.size(0) > 5" && guard["line"].get<std::string>().find(kBranch) != std::string::npos;
  EXPECT_TRUE(found) << traced["guards"].dump(1);
  EXPECT_THAT(traced["kernels"][0]["lines"].dump(), HasSubstr(kBranch));
}

TEST_F(CompileTrace, AuditSaysWhichLineNarrowsTheRange) {
  const json report = said({"audit", package(), "--time", "20s", "--out", *folder_ / "audit"});
  std::string because;
  for (const json& item : report["items"])
    for (const json& line : item["lines"])
      if (item["name"] == "x.size(0) >= 6") because += line.value("because", json::array()).dump();
  EXPECT_THAT(because, HasSubstr("x.size(0) > 5 at faults.py:")) << report.dump(1);
}

TEST_F(CompileTrace, ExplainSaysWhichLineNarrowsTheRange) {
  const std::string log = *folder_ / "log.txt";
  std::ofstream(log) << "Error: input_handles[0]: dim value is too small at 0, expected it to be >= 6, but got: 3\n";
  const json report = said({"explain", log, "--package", package()});
  EXPECT_THAT(report["found"][0]["facts"].dump(), HasSubstr("x.size(0) > 5 at faults.py:"));
  // The export alone tells it, too.
  std::ofstream(log) << "AssertionError: Guard failed: x.size()[0] > 5\n";
  EXPECT_THAT(said({"explain", log})["found"][0]["facts"].dump(), HasSubstr("x.size(0) > 5 at faults.py:"));
}

TEST_F(CompileTrace, ExplainDoesTheCaseWithIt) {
  const std::string input = *folder_ / "case.txt";
  std::ofstream(input) << "aotifuzz-case 1\ninput x f32[3,5] const(1.0)\n";
  const Ended ended =
      aotifuzz({"explain", "--case", input, "--package", package(), "--trace", trace(), "--reduce-runs", "0"});
  EXPECT_THAT(ended.out, HasSubstr("compile-time trace: the input breaks x.size(0) > 5 at faults.py:")) << ended.err;
}

TEST_F(CompileTrace, ATraceOfAnotherModelIsRefused) {
  PACKED(other, "faults.f137748_even_sizes");
  for (const char* verb : {"inspect", "audit"}) {
    const Ended ended = aotifuzz({verb, other, "--trace", trace()}, folder_->path());
    EXPECT_EQ(ended.exit_code, 3) << verb;
    EXPECT_THAT(ended.err, HasSubstr("is of another model or another compilation")) << verb;
  }
}

}  // namespace
}  // namespace aotifuzz::test
