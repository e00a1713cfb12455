// Bare libraries of the deprecated aot_compile, and files that are neither package nor library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Compiles to model.wrapper.{so,cpp} with the program beside it, as ep.pt2.
constexpr const char* kCompile = R"(
import glob, os, shutil, torch
class Model(torch.nn.Module):
    def forward(self, x, scale):
        return (x * scale).relu()
ep = torch.export.export(Model(), (torch.randn(3, 4), torch.randn(4)), dynamic_shapes=({0: torch.export.Dim("rows", max=64)}, {}))
library = torch._inductor.aot_compile(ep.module(), (torch.randn(3, 4), torch.randn(4)))
for ending in (".so", ".cpp", "_metadata.json"):
    if os.path.exists(library[:-3] + ending):
        shutil.copy(library[:-3] + ending, "model.wrapper" + ending)
torch.export.save(ep, "ep.pt2")
)";

TEST(Library, RunsAsAPackageOfItsDevice) {
  if (packed_model("example.embedding_mlp").empty()) GTEST_SKIP() << "AOTIFUZZ_MODELS is not set: tests/run.sh sets it";
  const ScratchFolder scratch;
  std::ofstream(scratch / "compile.py") << kCompile;
  const std::string cache = "TORCHINDUCTOR_CACHE_DIR=" + (scratch / "cache");
  const Ended compiled = run_program({"/usr/bin/env", cache, AOTIFUZZ_PYTHON, "compile.py"}, scratch / ".");
  ASSERT_TRUE(fs::exists(scratch / "model.wrapper.so")) << compiled.err;

  const Ended inspected = aotifuzz({"inspect", "model.wrapper.so"}, scratch / ".");
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("bare library"));
  EXPECT_THAT(inspected.out, HasSubstr("model for cpu"));

  const Ended alone = aotifuzz({"run", "model.wrapper.so", "arg0_1=3x4", "arg1_1=4"}, scratch / ".");
  EXPECT_EQ(alone.exit_code, 0) << alone.out << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("no reference"));
  EXPECT_THAT(alone.out, HasSubstr("stable: pass"));

  const Ended judged = aotifuzz({"run", "model.wrapper.so", "x=3x4", "--reference", "ep.pt2"}, scratch / ".");
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("close: pass"));
  EXPECT_THAT(judged.out, HasSubstr("input checks on      finished"));
  const Ended fuzzed =
      aotifuzz({"fuzz", "model.wrapper.so", "--reference", "ep.pt2", "--cases", "50", "--out", "out"}, scratch / ".");
  EXPECT_EQ(fuzzed.exit_code, 0) << fuzzed.out << fuzzed.err;

  const Ended device = aotifuzz({"run", "model.wrapper.so", "x=3x4", "--device", "cuda"}, scratch / ".");
  EXPECT_EQ(device.exit_code, 3);
  EXPECT_THAT(device.err, HasSubstr("compiled for cpu and cannot run on cuda"));

  fs::remove(scratch / "model.wrapper.cpp");
  EXPECT_EQ(aotifuzz({"inspect", "model.wrapper.so"}, scratch / ".").exit_code, 0);
  for (const char* verb : {"run", "fuzz"}) {
    const Ended blind = aotifuzz({verb, "model.wrapper.so"}, scratch / ".");
    EXPECT_EQ(blind.exit_code, 3) << verb;
    EXPECT_THAT(blind.err, HasSubstr("nothing says which inputs the library takes"));
    EXPECT_THAT(blind.err, HasSubstr("aoti_compile_and_package"));
  }
  EXPECT_EQ(aotifuzz({"run", "model.wrapper.so", "x=3x4", "--reference", "ep.pt2"}, scratch / ".").exit_code, 0);
}

TEST(Library, ALibraryForAnotherDeviceIsNotLoaded) {
  // It calls aoti_torch_cuda_mm_out, which no process here has: loading it would be a message about symbols.
  const Ended ended = aotifuzz({"run", AOTIFUZZ_CUDA_LIBRARY, "--device", "cpu"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("compiled for cuda and cannot run on cpu"));
  EXPECT_THAT(aotifuzz({"inspect", AOTIFUZZ_CUDA_LIBRARY}).out, HasSubstr("model for cuda"));
}

TEST(Library, WhatIsNeitherIsSaid) {
  PACKED(package, "example.embedding_mlp");
  const ScratchFolder scratch;
  const std::string bytes = read(package);
  std::ofstream(scratch / "cut.pt2", std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  std::ofstream(scratch / "empty.pt2", std::ios::binary);
  std::ofstream(scratch / "text.so", std::ios::binary) << "no library";
  std::ofstream(scratch / "cut.so", std::ios::binary) << read(AOTIFUZZ_CUDA_LIBRARY).substr(0, 500);
  fs::copy_file(AOTIFUZZ_PROGRAM, scratch / "program.so");
  const std::pair<const char*, const char*> files[] = {{"cut.pt2", "cannot open as a zip archive"},
                                                       {"empty.pt2", "cannot open as a zip archive"},
                                                       {"text.so", "cannot open as a zip archive"},
                                                       {"cut.so", "cut off"},
                                                       {"program.so", "holds no model"},
                                                       {"none.so", "cannot open"}};
  for (const auto& [file, why] : files) {
    for (const std::vector<std::string>& use :
         {std::vector<std::string>{"run", file}, {"inspect", file}, {"fuzz", file, "--out", "out"}, {"trace", file}}) {
      const Ended ended = aotifuzz(use, scratch / ".");
      EXPECT_EQ(ended.exit_code, 3) << use[0] << " " << file;
      EXPECT_THAT(ended.err, HasSubstr(why)) << use[0] << " " << file;
      EXPECT_THAT(ended.err, HasSubstr("to do:")) << use[0] << " " << file;
    }
  }
}

}  // namespace
}  // namespace aotifuzz::test
