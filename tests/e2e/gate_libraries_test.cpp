// `aotifuzz gate` on libraries that do not load or need others, and on wrong command lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/gate_command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST(GateLibraries, ThatNeedAnotherOneWorkWithLoad) {
  const Ended alone = gate({"--ops", library("gate_dependent_ops")});
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("aotifuzz_test_row_count"), HasSubstr("--load")));
  const Ended loaded = gate({"--ops", library("gate_dependent_ops"), "--load", library("gate_row_counter")});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.out << loaded.err;
  EXPECT_THAT(loaded.out, HasSubstr("1 operators: 1 ok"));
}

TEST(GateLibraries, ThatCannotBeJudgedSayWhyNot) {
  const ScratchFolder folder;
  std::ofstream(folder / "text.so") << "not a library\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {folder / "missing.so", "does not exist"},
      {folder / "text.so", "not a shared library"},
      {library("gate_row_counter"), "registers no operator"},
      {library("gate_aborting_initialiser"), "no configuration file"},
      {library("gate_python_ops"), "needs Python"},
  };
  for (const auto& [path, words] : cases) {
    const Ended ended = gate({"--ops", path});
    EXPECT_EQ(ended.exit_code, 3) << path << ended.out << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(words), HasSubstr("where:"), HasSubstr("to do:"))) << path;
  }
  // Two libraries that register the same names in one process.
  const Ended twice = gate({"--ops", library("gate_ops_after"), "--load", library("gate_ops_before")});
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_THAT(twice.err, HasSubstr("leave out --load"));
}

TEST(GateLibraries, WrongUseIsSaidInThreeParts) {
  const ScratchFolder folder;
  std::ofstream(folder / "bad.spec") << "right::scale x=f99[B]\n";
  std::ofstream(folder / "unknown.spec") << "right::no_such x=f32[B]\n";
  const std::string ops = library("gate_right_ops");
  const std::vector<std::pair<std::vector<std::string>, int>> uses = {
      {{}, 2},
      {{"--ops", ops, "--all"}, 2},
      {{"--ops", ops, "--base", ops, "--init-spec"}, 2},
      {{"--ops", ops, "--timeout", "soon"}, 2},
      {{"--ops", ops, "--device", "gpu"}, 2},
      {{"--ops", ops, "--device", "cuda:"}, 2},
      {{"--ops", ops, "--device", "cuda:0", "--fakes", "m"}, 2},
      {{"--ops", ops, "--only", "right::no_such"}, 3},
      {{"--ops", ops, "--spec", folder / "none.spec"}, 3},
      {{"--ops", ops, "--spec", folder / "bad.spec"}, 3},
      {{"--ops", ops, "--spec", folder / "unknown.spec"}, 3},
  };
  for (const auto& [arguments, code] : uses) {
    const Ended ended = gate(arguments);
    EXPECT_EQ(ended.exit_code, code) << testing::PrintToString(arguments) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("where:"), HasSubstr("to do:"))) << testing::PrintToString(arguments);
  }
}

TEST(GateDevice, TheCpuIsTheDefaultAndADeviceThatIsNotThereIsSaid) {
  const std::string ops = library("gate_right_ops");
  EXPECT_THAT(gate({"--ops", ops, "--only", "right::norm", "--device", "cpu"}).out, HasSubstr("1 operators: 1 ok"));
  // More GPUs than any machine has; where there are none the driver is what is missing, or the worker for CUDA.
  const Ended absent = gate({"--ops", ops, "--device", "cuda:900"});
  EXPECT_EQ(absent.exit_code, 3) << absent.out;
  EXPECT_THAT(absent.err, AllOf(HasSubstr("where:"), HasSubstr("to do:")));
  EXPECT_THAT(absent.err, testing::AnyOf(HasSubstr("no CUDA driver"), HasSubstr("no device"),
                                         HasSubstr("no such device"), HasSubstr("no worker for that")));
  ASSERT_EQ(setenv("AOTIFUZZ_GATE_WORKER_CUDA", "/nowhere/worker", 1), 0);
  const Ended missing = gate({"--ops", ops, "--device", "cuda"});
  unsetenv("AOTIFUZZ_GATE_WORKER_CUDA");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("/nowhere/worker"), HasSubstr("AOTIFUZZ_GATE_WORKER_CUDA")));
}

TEST(GateProgram, WorkerLinksNeitherCudaNorPython) {
  const fs::path worker = fs::path(AOTIFUZZ_PROGRAM).parent_path() / "aotifuzz-gate-worker";
  const std::string libraries = run_program({"readelf", "-d", worker.string()}).out;
  EXPECT_THAT(libraries, HasSubstr("libtorch_cpu"));
  EXPECT_THAT(libraries, AllOf(Not(HasSubstr("libtorch_cuda")), Not(HasSubstr("libcuda")),
                               Not(HasSubstr("libtorch_python")), Not(HasSubstr("libpython"))));
}

}  // namespace
}  // namespace aotifuzz::test
