#include "package/error_recogniser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "core/error.h"

namespace aotifuzz {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ids(const std::string& log) {
  std::vector<std::string> out;
  for (const RecognisedError& error : recognise_errors(log)) out.push_back(error.pattern->id);
  return out;
}

TEST(ErrorRecogniser, PlaceholdersTakeWhatTheySay) {
  const auto one = match_text("0 <= {index~} < {bound*}` failed", "Assertion `index: 0 <= tmp4 < ks0*2` failed.");
  ASSERT_TRUE(one.has_value());
  EXPECT_THAT(*one, UnorderedElementsAre(Pair("index", "tmp4"), Pair("bound", "ks0*2")));
  EXPECT_EQ(match_text("got: {got#}", "got: -12, more")->at("got"), "-12");
  EXPECT_FALSE(match_text("got: {got#}", "got: x").has_value());
  EXPECT_FALSE(match_text("a {x~} b", "a  b").has_value());
  EXPECT_EQ(match_text("in {name~}", "at least one in buf0.")->at("name"), "buf0.");
  EXPECT_EQ(match_text("device {a~} and {b~}!", "on device cuda:0 and cpu!")->at("a"), "cuda:0");
  // Its beginning may stand there twice.
  EXPECT_EQ(match_text("dim {n#}", "dim x, dim 3")->at("n"), "3");
}

TEST(ErrorRecogniser, LinesThatOnlySoundLikeErrorsAreNone) {
  for (const char* line : {"installing handlers for SIGSEGV, SIGBUS and SIGFPE", "worker left with exit code 1240",
                           "job 7: exit code 13900", "rebuilt: index out of range in self-attention cache: none",
                           "std::bad_alloc counter: 0", "x.isnan().any().item() = False", "Mismatched elements: 0 / 12",
                           "ZeroDivisionError handled", "NoZeroDivisionErrors", "test_misaligned address ... ok",
                           "PASS: double free or corruption check", "SIGABRT handler installed"})
    EXPECT_THAT(ids(line), IsEmpty()) << line;
}

TEST(ErrorRecogniser, ABareSignalIsKnown) {
  const std::pair<const char*, const char*> lines[] = {{"rank 0 was killed by signal 11", "segfault"},
                                                       {"Segmentation fault (core dumped)", "segfault"},
                                                       {"killed by signal 8", "division-by-zero"},
                                                       {"killed by signal 6", "abort"},
                                                       {"killed by signal 4", "illegal-instruction"}};
  for (const auto& [line, id] : lines) EXPECT_THAT(ids(line), ::testing::ElementsAre(id)) << line;
  EXPECT_THAT(ids("killed by signal 15"), IsEmpty());
  EXPECT_THAT(ids("killed by signal 110"), IsEmpty());
}

TEST(ErrorRecogniser, AThousandIndicesOfOneKindAreAFewAndACount) {
  std::string log;
  for (int index = 0; index < 1'000; ++index)
    log += "IndexError: index " + std::to_string(index) + " is out of bounds for dimension 0 with size 4\n";
  const std::vector<RecognisedError> errors = recognise_errors(log);
  ASSERT_THAT(errors, SizeIs(8));
  EXPECT_EQ(errors[0].others, 992u);
}

TEST(ErrorRecogniser, SameLinesAreCountedAndOthersKeptApart) {
  std::string log = "started\n";
  for (int thread = 0; thread < 40; ++thread)
    log += "unknown:0: unknown: block: [0,0,0], thread: [" + std::to_string(thread) +
           ",0,0] Assertion `index out of bounds: 0 <= tmp4 < ks0` failed.\n";
  log += "x: Assertion `index out of bounds: 0 <= tmp9 < 12` failed.\n";
  const std::vector<RecognisedError> errors = recognise_errors(log);
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].line, 2u);
  EXPECT_EQ(errors[0].times, 40u);
  EXPECT_EQ(errors[1].line, 42u);
  EXPECT_EQ(errors[1].captures.at("bound"), "12");
}

TEST(ErrorRecogniser, AConsequenceIsLeftOutWhereItsCauseIsTold) {
  const std::string consequence = "RuntimeError: CUDA error: device-side assert triggered\n";
  EXPECT_THAT(ids(consequence), ::testing::ElementsAre("device-assert"));
  EXPECT_THAT(ids("Assertion `index out of bounds: 0 <= tmp4 < 9` failed.\n" + consequence),
              ::testing::ElementsAre("index-out-of-bounds"));
  // torch 2.11: the cause on stderr, this in the exception.
  EXPECT_THAT(ids("Error: input_handles[0]: unmatched dim value at 2, expected: 16, but got: 15\n\n"
                  "RuntimeError: run_func_( container_handle_, input_handles.data()) API call failed at "
                  "/pytorch/torch/csrc/inductor/aoti_runner/model_container_runner.cpp, line 144\n"),
              ::testing::ElementsAre("input-size"));
}

TEST(ErrorRecogniser, TheLineAfterSaysWhetherItIsAnInput) {
  const std::string line = "Error: expected size 9==7, stride 1==1 at dim=1\n";
  EXPECT_THAT(ids(line + "Error in op: input\n"), ::testing::ElementsAre("input-layout"));
  EXPECT_THAT(ids(line + "Error in op: torch.ops.my.halve.default\n"), ::testing::ElementsAre("custom-op-fake"));
  EXPECT_THAT(ids(line), ::testing::ElementsAre("size-or-stride"));
}

TEST(ErrorRecogniser, InnocentLogsMatchNothing) {
  for (const char* log :
       {// Loader and compiler, torch 2.11.0 and 2.15.0.
        "W1130 23:44:13.237000 8848 torch/utils/cpp_extension.py:183] No CUDA runtime is found, using "
        "CUDA_HOME='/usr/local/cuda'",
        "[WARNING] Could not dlsym AOTInductorModelContainerUpdateConstantBufferFromCpu: undefined",
        "torch/export/pt2_archive/_package.py:790: UserWarning: The given buffer is not writable, and PyTorch does "
        "not support non-writable tensors.",
        "FutureWarning: `isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
        "treespec.is_leaf()` instead.",
        "W1201 serialize.py:1438] Unsure how to serialize the given empty list, as we don't know what is the type "
        "of this argument.",
        "AUTOTUNE addmm(28x32, 28x16, 16x32)\n  cpp_CppMicroGemmFP32Vec_0 0.0110 ms 100.0%",
        // aotifuzz' own output of a clean run.
        "aotifuzz: 10000 cases in 9 s, 1111/s; faults: 0; gaps: 3; children died 12",
        "loaded\nran [torch.Size([4, 7, 32]), torch.Size([4, 14, 32])]", "", "\n\n\n",
        "index out of bounds was not seen; expected size of the batch: 4; NaN in the docs", "timed in 12 s"})
    EXPECT_THAT(ids(log), IsEmpty()) << log;
}

TEST(ErrorRecogniser, LongAndBinaryTextIsHarmless) {
  const std::string noise(200'000, 'i');
  EXPECT_THAT(ids(noise + "index out of bounds: 0 <= tmp2 < 5L"), IsEmpty());
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 31);
  recognise_errors(bytes);
  const std::vector<RecognisedError> coloured = recognise_errors("\x1b[31mAborted (core dumped)\x1b[0m");
  ASSERT_THAT(coloured, SizeIs(1));
  EXPECT_EQ(coloured[0].text, " [31mAborted (core dumped) [0m");
  std::string open;
  for (int i = 0; i < 1000; ++i) open += "input_handles[";
  EXPECT_THAT(ids(open), IsEmpty());
}

/// What wrong calls come to with each version (tests/support/record_samples.py): "== NAME", then what was printed.
TEST(ErrorRecogniser, RefusalsOfEachVersionAreKnown) {
  for (const char* version : {"2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"}) {
    SCOPED_TRACE(version);
    std::ifstream in(std::string(AOTIFUZZ_TEST_DATA) + "/torch-" + version + "/errors.log");
    std::map<std::string, std::string> logs;
    std::string name;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("== "))
        name = line.substr(3);
      else
        logs[name] += line + "\n";
    }
    ASSERT_THAT(logs, SizeIs(5));
    for (const auto& [call, log] : logs) {
      const bool range = call == "input-size-range";
      const std::vector<RecognisedError> errors = recognise_errors(log);
      ASSERT_THAT(errors, Not(IsEmpty())) << call;
      EXPECT_EQ(errors[0].pattern->id, range ? "input-size" : call);
      Captures captures = errors[0].captures;
      // Dimension, limit and size where the text has them.
      std::string numbers;
      for (const char* capture : {"dim", "expected", "most", "got"}) numbers += captures[capture] + " ";
      const std::map<std::string, std::string> expected = {
          {"input-size", "2 16  15 "}, {"input-size-range", "0  64 65 "}, {"input-count", " 2  1 "}};
      if (const auto known = expected.find(call); known != expected.end()) {
        EXPECT_EQ(numbers, known->second);
      }
    }
  }
}

}  // namespace
}  // namespace aotifuzz
