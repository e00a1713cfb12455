// Kernels of the embedded example packages, as a user looks at them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(Kernels, InspectShowsWhatIsJudgedAsTableAndGraph) {
  PACKED(package, "example.embedding_mlp");
  const Ended table = aotifuzz({"inspect", package, "--kernels"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("3 calls, 3 of them judged against eager"));
  EXPECT_THAT(table.out, HasSubstr("cpp_fused_add_embedding_0  (cpp) judged"));
  EXPECT_THAT(table.out, HasSubstr("forward"));  // the model's source line
  const Ended graph = aotifuzz({"inspect", package, "--kernels", "--dot"});
  EXPECT_THAT(graph.out, HasSubstr("digraph kernels {"));
  EXPECT_THAT(graph.out, HasSubstr("call1 -> call2"));
  EXPECT_EQ(aotifuzz({"inspect", package, "--dot"}).exit_code, 2);
}

TEST(Kernels, APackageWithoutAMapSaysHowToGetOne) {
  PACKED(stock, "example.embedding_mlp.stock");
  const Ended ended = aotifuzz({"inspect", stock, "--kernels"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("aotifuzz_pack"));
  // Names, sizes and values are there all the same.
  const Ended trace = aotifuzz({"trace", stock});
  EXPECT_EQ(trace.exit_code, 0) << trace.err;
  EXPECT_THAT(trace.out, HasSubstr("cpp_fused_add_embedding_0"));
  EXPECT_THAT(trace.out, HasSubstr("  min "));
}

TEST(Kernels, TraceShowsKernelsValuesAndErrors) {
  PACKED(package, "example.embedding_mlp");
  const Ended names = aotifuzz({"trace", package, "--level", "names"});
  EXPECT_EQ(names.exit_code, 0) << names.err;
  EXPECT_THAT(names.out, HasSubstr("1  cpp_fused_add_embedding_0"));
  EXPECT_THAT(names.out, Not(HasSubstr("  min ")));
  const json stats = json::parse(aotifuzz({"trace", package, "--json"}).out, nullptr, false);
  ASSERT_TRUE(stats.is_array());
  ASSERT_EQ(stats.size(), 3u);
  for (const json& call : stats) EXPECT_EQ(call["verdict"], "right") << call.dump();
  EXPECT_EQ(stats[0]["given"][0]["error"], "exact");
  EXPECT_EQ(stats[0]["left"][0]["op"], "aten.add.Tensor");
  EXPECT_THAT(aotifuzz({"trace", package, "--nan"}).out, HasSubstr("no NaN"));
  const json up = json::parse(aotifuzz({"trace", package, "--upstream", "addmm", "--json"}).out, nullptr, false);
  ASSERT_EQ(up.size(), 2u);
  EXPECT_EQ(aotifuzz({"trace", package, "--upstream", "nobody"}).exit_code, 2);
  const json one = json::parse(aotifuzz({"trace", package, "--kernels", "embedding", "--json"}).out, nullptr, false);
  EXPECT_EQ(one.size(), 1u);
}

TEST(Kernels, TraceSavesTensorsThatNumPyReads) {
  PACKED(package, "example.embedding_mlp");
  const fs::path folder = fs::temp_directory_path() / ("aotifuzz-trace-" + std::to_string(getpid()));
  const Ended saved = aotifuzz({"trace", package, "--save", folder, "--json"});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  const json trace = json::parse(saved.out, nullptr, false);
  const std::string file = trace[0]["left"][0]["file"];
  const Ended read =
      run_program({AOTIFUZZ_PYTHON, "-c",
                   "import numpy, sys; x = numpy.load(sys.argv[1]); print(x.dtype, x.ndim, x.size > 0)", file});
  EXPECT_EQ(read.out, "float32 " + std::to_string(trace[0]["left"][0]["sizes"].size()) + " True\n") << read.err;
  fs::remove_all(folder);
}

TEST(Kernels, AWrongOutputCarriesTheKernelThatMadeItSo) {
  PACKED(package, "faults.f191499_extremes_of_byte_rows");
  const fs::path folder = fs::temp_directory_path() / ("aotifuzz-kernels-" + std::to_string(getpid()));
  EXPECT_EQ(aotifuzz({"fuzz", package, "--out", folder, "--for", "5s"}).exit_code, 1);
  std::string kernels;
  for (const fs::directory_entry& finding : fs::directory_iterator(folder / "findings"))
    if (finding.path().filename().string().starts_with("wrong-result"))
      kernels += run_program({"/bin/cat", finding.path() / "report.md"}).out;
  EXPECT_THAT(kernels, HasSubstr("| kernel | cpp_fused_a"));
  EXPECT_THAT(kernels, HasSubstr("aten.amin.default"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace aotifuzz::test
