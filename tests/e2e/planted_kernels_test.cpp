// Faults planted in the generated kernels of a package (tests/support/plant_kernel_faults.py): each is reported with
// the kernel that carries it, also where no output of the package shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr const char* kModel = "clean.closed_gate";
constexpr const char* kCases = "60";

/// Kernels that the faults of a run name; "" for a fault that names none.
std::set<std::string> kernels_of_faults(const std::string& package, const std::string& out,
                                        const std::string& per_kernel, const std::string& cases) {
  const Ended ended = run_program({AOTIFUZZ_PROGRAM, "fuzz", package, "--out", out, "--per-kernel", per_kernel,
                                   "--generator", "shapes", "--cases", cases, "--reduce-runs", "0", "--json"});
  std::set<std::string> kernels;
  EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 1) << ended.err;
  if (!json::accept(ended.out)) return {"no summary: " + ended.err};
  const json summary = json::parse(ended.out);
  EXPECT_GT(summary["judged"], 0) << ended.err;
  for (const json& finding : summary["findings"]) {
    if (finding["section"] != "fault") continue;
    std::string kernel;
    std::ifstream file(finding["folder"].get<std::string>() + "/finding.json");
    const json whole = json::parse(file);
    for (const json& measure : whole["measures"])
      if (measure[0] == "kernel") kernel = measure[1];
    kernels.insert(kernel);
  }
  return kernels;
}

/// Small sizes, which come first, have no whole vectors.
constexpr const char* kStoreOfTheTail = "tmp3.store(in_out_ptr0 + static_cast<int64_t>(x1 + ks1*x0), ";

struct Planted {
  const char* title;
  const char* op;      ///< operator of change
  const char* kernel;  ///< part of the name of the kernel
  const char* line;    ///< part of the line that is changed
  bool hidden;         ///< no output shows it
};

class PlantedKernels : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedKernels, IsReportedWithItsKernel) {
  PACKED(package, kModel);
  const Planted& planted = GetParam();
  const ScratchFolder scratch;
  const std::string target = scratch / "planted.pt2";
  const Ended made = run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_PLANT, package, target, "--operator", planted.op,
                                  "--kernel", planted.kernel, "--line", planted.line});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string kernel = json::parse(made.out)["kernel"];
  EXPECT_THAT(kernels_of_faults(target, scratch / "on", "1", kCases), ElementsAre(kernel)) << made.out;
  if (planted.hidden) {
    EXPECT_THAT(kernels_of_faults(target, scratch / "off", "0", kCases), IsEmpty()) << made.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedKernels,
                         ::testing::Values(Planted{"WrongConstant", "wrong-constant", "gelu", "static_cast<float>",
                                                   true},
                                           Planted{"ReductionStart", "wrong-start", "softmax", "tmp_acc0 = 0", true},
                                           Planted{"DroppedTerm", "dropped-term", "gelu", " + ", true},
                                           Planted{"Stride", "wrong-stride", "softmax", kStoreOfTheTail, false},
                                           Planted{"Tail", "dropped-tail", "softmax", "x2", false}),
                         [](const auto& info) { return std::string(info.param.title); });

// One row too many is read: past the end of what the matrix product before the kernel left.
TEST(PlantedKernels, AStrayReadOfAnIntermediateNamesWhatItHolds) {
  PACKED(package, "example.embedding_mlp");
  const ScratchFolder scratch;
  const std::string target = scratch / "planted.pt2";
  const Ended made = run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_PLANT, package, target, "--operator", "loop-bound+1",
                                  "--kernel", "layer_norm", "--line", "x0<"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ended ended = run_program({AOTIFUZZ_PROGRAM, "fuzz", target, "--out", scratch / "out", "--generator", "shapes",
                                   "--cases", "20", "--reduce-runs", "0", "--json"});
  ASSERT_EQ(ended.exit_code, 1) << ended.err;
  for (const json& finding : json::parse(ended.out)["findings"]) {
    if (finding["section"] != "fault") continue;
    EXPECT_THAT(finding["signature"].get<std::string>(), HasSubstr("past end of intermediate"));
    EXPECT_THAT(finding["reason"].get<std::string>(), MatchesRegex(".*intermediate or output \\(.* \\(aten\\..*"));
    const std::string text = read(finding["folder"].get<std::string>() + "/report.md");
    EXPECT_THAT(text, HasSubstr("| kernel's model line | example.py:"));
    EXPECT_THAT(text, HasSubstr("## The kernel\n\n`"));
    EXPECT_THAT(text, HasSubstr("extern \"C\"  void  cpp_fused_"));
  }
}

TEST(PlantedKernels, BuiltAgainWithoutAFaultThePackageIsClean) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  const std::string target = scratch / "same.pt2";
  const Ended made = run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_PLANT, package, target, "--none"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(kernels_of_faults(target, scratch / "same", "1", kCases), IsEmpty());
}

}  // namespace
}  // namespace aotifuzz::test
