// `aotifuzz run` as a user types it: real inputs into a package, and the case that they leave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr const char* kDivision = "faults.f184406_integer_division";
constexpr const char* kBytes = "faults.f191499_extremes_of_bytes";
constexpr const char* kMlp = "example.embedding_mlp";

/// Runs Python with torch in `folder`; false: it failed.
bool python(const std::string& code, const std::string& folder) {
  std::ofstream(folder + "/make.py") << "import numpy, torch\nfrom safetensors.torch import save_file\n" << code;
  const Ended ended = run_program({AOTIFUZZ_PYTHON, "make.py"}, folder);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.exit_code == 0;
}

TEST(Run, AStateDictOrASparseTensorIsRefusedInOurWords) {
  PACKED(package, kMlp);
  const ScratchFolder scratch;
  if (!python("torch.save(torch.nn.Linear(2, 2).state_dict(), 'state.pt')\n"
              "torch.save(torch.eye(3).to_sparse(), 'sparse.pt')\n",
              scratch.path()))
    return;
  for (const char* name : {"state.pt", "sparse.pt"}) {
    const Ended ended = aotifuzz({"run", package, scratch / name});
    EXPECT_NE(ended.exit_code, 0) << name;
    EXPECT_THAT(ended.err, HasSubstr("libtorch cannot read what it holds (of a state_dict save dict(state)")) << name;
    EXPECT_THAT(ended.err, Not(HasSubstr("INTERNAL ASSERT"))) << name;
  }
}

TEST(Run, AnInputThatIsTooLargeIsNotRead) {
  PACKED(package, kMlp);
  const ScratchFolder scratch;
  {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (78643200,), }";
    header.resize(117, ' ');
    std::ofstream(scratch / "big.npy", std::ios::binary) << std::string("\x93NUMPY\x01\x00v\x00", 10) << header << '\n';
    fs::resize_file(scratch / "big.npy", 300 << 20);
  }
  const Ended ended = aotifuzz({"run", package, "x=" + (scratch / "big.npy")});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("the input has more than 256 MiB"));
}

TEST(Run, JsonNamesTheInputs) {
  PACKED(package, kMlp);
  const json report = json::parse(aotifuzz({"run", package, "x=3x5x16", "--json"}).out, nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["inputs"][0]["name"], "x");
  EXPECT_EQ(report["inputs"][0]["sizes"], json::parse("[3, 5, 16]"));
  EXPECT_EQ(report["inputs"][1]["from"], "sizes follow");
}

TEST(Run, SaysWhatEachModeSaw) {
  PACKED(package, kMlp);
  const Ended ended = aotifuzz({"run", package, "x=3x5x16"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("x f32[3,5,16] (sizes given)\nidx i64[3,5] (sizes follow)\n"));
  for (const char* mode :
       {"reference            finished", "guard, end           finished", "guard, start         finished",
        "kernel by kernel     finished", "input checks on      finished", "without the guard    finished"})
    EXPECT_THAT(ended.out, HasSubstr(mode));
  EXPECT_THAT(ended.out, HasSubstr(": passes"));
  const json report = json::parse(aotifuzz({"run", package, "s77=3", "s27=5", "--seed", "7", "--json"}).out);
  EXPECT_EQ(report["exit_code"], 0);
  EXPECT_EQ(report["modes"].size(), 6u);
}

TEST(Run, TakesFilesOfEveryKind) {
  PACKED(package, kMlp);
  const ScratchFolder scratch;
  // Neither the names of the inputs nor the current folder help to find values.
  fs::create_directories(scratch / "made");
  fs::create_directories(scratch / "elsewhere");
  ASSERT_TRUE(python(R"(
x, idx = torch.randn(3, 5, 16), torch.randint(0, 100, (3, 5))
numpy.save("first file.npy", x.numpy()), numpy.save("second.npy", idx.numpy())
numpy.savez("both.npz", idx=idx.numpy(), x=x.numpy())
torch.save([x, idx], "list.pt"), torch.save({"idx": idx, "x": x}, "dict.pt"), torch.save(x, "alone.pt")
save_file({"x": x, "idx": idx}, "both.safetensors")
)",
                     scratch / "made"));
  for (const std::vector<std::string>& inputs :
       std::vector<std::vector<std::string>>{{"../made/first file.npy", "../made/second.npy"},
                                             {"idx=../made/second.npy", "../made/alone.pt"},
                                             {"../made/both.npz"},
                                             {"../made/list.pt"},
                                             {"../made/dict.pt"},
                                             {"../made/both.safetensors"}}) {
    std::vector<std::string> words = {"run", package};
    words.insert(words.end(), inputs.begin(), inputs.end());
    const Ended ended = aotifuzz(words, scratch / "elsewhere");
    EXPECT_EQ(ended.exit_code, 0) << inputs[0] << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("x f32[3,5,16] (")) << inputs[0];
    EXPECT_THAT(ended.out, HasSubstr("close: pass")) << inputs[0];
  }
}

TEST(Run, KeepsTheStridesOfSavedTensors) {
  PACKED(package, kMlp);
  const ScratchFolder scratch;
  ASSERT_TRUE(python(R"(
torch.save([torch.randn(5, 3, 16).transpose(0, 1), torch.zeros(3, 5, dtype=torch.int64)], "strided.pt")
torch.save({"x": "text"}, "text.pt")
torch.save([torch.eye(3).to_sparse()], "sparse.pt")
)",
                     scratch / "."));
  const Ended ended = aotifuzz({"run", package, "strided.pt"}, scratch / ".");
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("x: strides as exported (dense)"));
  EXPECT_THAT(ended.err, HasSubstr("--anyway"));
  const Ended text = aotifuzz({"run", package, "text.pt"}, scratch / ".");
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.err, HasSubstr("no tensor or number"));
  const Ended sparse = aotifuzz({"run", package, "sparse.pt"}, scratch / ".");
  EXPECT_EQ(sparse.exit_code, 3);
  EXPECT_THAT(sparse.err, AnyOf(HasSubstr("sparse"), HasSubstr("cannot be read")));
}

TEST(Run, TheFirstCheckNamesInputAndDimension) {
  PACKED(package, kMlp);
  const ScratchFolder scratch;
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{"x=3x5x16", "idx=3x9"}, "idx.size(1) == x.size(1): idx.size(1) = 9, x.size(1) = 5"},
      {{"x=3x5x17"}, "x.size(2) == 16: x.size(2) = 17"},
      {{"x=3x5"}, "x.dim() == 3: 2 dimensions"},
      {{"x=70x5x16"}, "x.size(0) <= 64: x.size(0) = 70"}};
  for (const auto& [inputs, why] : bad) {
    std::vector<std::string> words = {"run", package};
    words.insert(words.end(), inputs.begin(), inputs.end());
    if (words.size() == 3 && inputs[0] != "x=70x5x16") words.emplace_back("idx=3x5");
    const Ended ended = aotifuzz(words);
    EXPECT_EQ(ended.exit_code, 3) << inputs[0];
    EXPECT_THAT(ended.err, HasSubstr(why));
    EXPECT_THAT(ended.err, HasSubstr("to do:"));
  }
  std::ofstream(scratch / "x.npy") << "no array";
  const Ended garbage = aotifuzz({"run", package, scratch / "x.npy"});
  EXPECT_EQ(garbage.exit_code, 3);
  EXPECT_THAT(garbage.err, HasSubstr("none of the formats"));
  const Ended missing = aotifuzz({"run", package, "x=3x5x16", "idx=" + (scratch / "none.npy")});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("cannot be read"));
  EXPECT_EQ(aotifuzz({"run", package}).exit_code, 2);
  EXPECT_EQ(aotifuzz({"run", package, "y=3"}).exit_code, 2);
  const Ended device = aotifuzz({"run", package, "x=3x5x16", "--device", "cuda:0"});
  EXPECT_EQ(device.exit_code, 3);
  EXPECT_THAT(device.err, HasSubstr("compiled for cpu and cannot run on cuda"));
}

TEST(Run, AFindingOfRealInputsBecomesACaseThatNeedsNoFile) {
  PACKED(package, kBytes);
  const ScratchFolder scratch;
  ASSERT_TRUE(python(R"(
numpy.save("x.npy", numpy.arange(40, dtype="u1") * 5 + 3)
)",
                     scratch / "."));
  const Ended ended = aotifuzz({"run", package, "x.npy", "--save-case", "real"}, scratch / ".");
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("wrong-result output 0"));
  EXPECT_THAT(ended.out, HasSubstr("saved: aotifuzz replay real"));
  const std::string text = read(scratch / "real/case.txt");
  EXPECT_THAT(text, HasSubstr("input x u8[40] file(\"x.npy\",u8,hash="));
  EXPECT_LT(text.size(), 400u);
  ASSERT_TRUE(fs::exists(scratch / "real/x.npy"));

  const Ended again = aotifuzz({"replay", "real"}, scratch / ".");
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("still fails"));
  // Elsewhere too, as long as the files come along.
  fs::rename(scratch / "real", scratch / "moved");
  EXPECT_THAT(aotifuzz({"replay", "moved"}, scratch / ".").out, HasSubstr("still fails"));
  EXPECT_EQ(aotifuzz({"corpus", "merge", "corpus", "moved"}, scratch / ".").exit_code, 0);
  EXPECT_TRUE(fs::exists(scratch / "corpus/moved/x.npy"));

  const Ended smaller = aotifuzz({"minimize", "moved"}, scratch / ".");
  EXPECT_EQ(smaller.exit_code, 0) << smaller.err;
  EXPECT_THAT(smaller.out, Not(HasSubstr("file(")));
  EXPECT_THAT(smaller.err, HasSubstr("1-minimal"));

  fs::remove(scratch / "moved/x.npy");
  const Ended gone = aotifuzz({"replay", "moved"}, scratch / ".");
  EXPECT_EQ(gone.exit_code, 3);
  EXPECT_THAT(gone.err, HasSubstr("no such file"));
}

TEST(Run, ACampaignStartsWithRealInputs) {
  PACKED(package, kDivision);
  const ScratchFolder scratch;
  ASSERT_TRUE(python(R"(
a, b = numpy.arange(40, dtype="i4") * 7 - 100, numpy.arange(40, dtype="i4") + 1
numpy.save("a.npy", a), numpy.save("b.npy", b)
)",
                     scratch / "."));
  const Ended saved = aotifuzz({"run", package, "a.npy", "b.npy", "--save-case", "real.txt"}, scratch / ".");
  EXPECT_EQ(saved.exit_code, 0) << saved.out << saved.err;
  EXPECT_THAT(saved.out, HasSubstr("--package"));
  const Ended fuzzed =
      aotifuzz({"fuzz", package, "--cases", "1", "--out", "out", "--start-with", "real.txt", "--json"}, scratch / ".");
  EXPECT_EQ(json::parse(fuzzed.out)["coverage"]["values"].contains("file"), true) << fuzzed.out;
}

}  // namespace
}  // namespace aotifuzz::test
