// `aotifuzz explain` on real packages that fail in each way it knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The row of that name among what was found; null when it is not there.
json row(const json& report, const std::string& pattern) {
  for (const json& one : report.value("found", json::array()))
    if (one["pattern"] == pattern) return one;
  return nullptr;
}

std::string fact(const json& one, const std::string& name) {
  for (const json& fact : one.value("facts", json::array()))
    if (fact["name"] == name) return fact["value"];
  return "";
}

std::string conclusion(const json& report) {
  std::string out;
  for (const json& line : report.value("conclusion", json::array())) out += line.get<std::string>() + "\n";
  return out;
}

std::string steps(const json& report) {
  std::string out;
  for (const json& step : report.value("steps", json::array()))
    out += step["step"].get<std::string>() + ": " + step["result"].get<std::string>() + "\n";
  return out;
}

/// "2.15.0+cu132"
std::string compiled_by(const std::string& package) {
  const json about = json::parse(aotifuzz({"inspect", package, "--json"}).out, nullptr, false);
  return about.is_object() && about.contains("pack") ? about["pack"].value("torch", "") : "";
}

class Explain : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string input(const std::string& lines) { return file("case.txt", "aotifuzz-case 1\n" + lines); }

  json explain(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), "explain");
    arguments.push_back("--json");
    const Ended ended = aotifuzz(arguments);
    EXPECT_EQ(ended.exit_code, code) << ended.out << ended.err;
    json report = json::parse(ended.out, nullptr, false);
    EXPECT_TRUE(report.is_object()) << ended.out << ended.err;
    return report.is_object() ? report : json::object();
  }
  json explain_text(const std::string& text, const std::string& package) {
    return explain({file("log.txt", text), "--package", package});
  }

  /// A case of the model that calls explain_ops::double, which fails as EXPLAIN_OP says.
  json with_operator(const std::string& package, const std::string& fault, int code = 1) {
    setenv("EXPLAIN_OP", fault.c_str(), 1);
    const std::string library = std::string(AOTIFUZZ_GATE_OPS) + "/libexplain_failing_op.so";
    json report = explain({"--case", input("input x f32[5,3] const(1.0)\n"), "--package", package, "--ops", library,
                           "--timeout", "2s", "--reduce-runs", "20"},
                          code);
    unsetenv("EXPLAIN_OP");
    return report;
  }

  ScratchFolder folder_;
};

TEST_F(Explain, AnIndexThatAnInputHolds) {
  PACKED(package, "example.embedding_mlp");
  const json report =
      explain({"--case", input("input x f32[2,3,16] const(1.0)\ninput idx i64[2,3] const(7) at(4)=100\n"), "--package",
               package});
  const json index = row(report, "index-out-of-bounds");
  ASSERT_FALSE(index.is_null()) << report.dump(1);
  EXPECT_THAT(index["at_fault"].get<std::string>(), HasSubstr("the values of input idx"));
  EXPECT_EQ(fact(index, "kernel"), "cpp_fused_add_embedding_0");
  EXPECT_THAT(fact(index, "guards the load"), HasSubstr("weight tokens.weight"));
  EXPECT_THAT(conclusion(report), HasSubstr("the reference does too"));
  // Kernels of 2.12 and older wrap negative indices around: there, the least index that is refused is the first too
  // large.
  EXPECT_THAT(report["minimal_case"].get<std::string>(),
              AnyOf(HasSubstr("input idx i64[1,1] const(-1)"), HasSubstr("input idx i64[1,1] const(100)")));
  // The text alone says the same of kernel and input.
  const json alone = row(explain_text(index["text"], package), "index-out-of-bounds");
  EXPECT_EQ(alone["at_fault"], index["at_fault"]);
}

TEST_F(Explain, AnIndexThatTheKernelComputes) {
  PACKED(package, "explain_models.computed_index");
  const json report = explain(
      {"--case", input("input scores f32[3,4] const(1.0)\ninput rows f32[4,5] const(2.0)\n"), "--package", package});
  const json index = row(report, "index-out-of-bounds");
  ASSERT_FALSE(index.is_null()) << report.dump(1);
  EXPECT_THAT(index["at_fault"].get<std::string>(), HasSubstr("computed from input scores"));
  EXPECT_THAT(index["at_fault"].get<std::string>(), HasSubstr("not below rows.size(0)"));
  EXPECT_THAT(fact(index, "model line"), HasSubstr("scores > 0"));
  EXPECT_THAT(report["minimal_case"].get<std::string>(), HasSubstr("input scores f32[1,1] const(1.0)"));
}

TEST_F(Explain, ASizeOfValuesThatACheckRefuses) {
  PACKED(package, "explain_models.kept_rows");
  const json report = explain({"--case", input("input x f32[3,3] const(1.0)\ninput mask bool[3] const(0)\n"),
                               "--package", package, "--reduce-runs", "0"});
  ASSERT_FALSE(row(report, "size-assertion").is_null()) << report.dump(1);
  EXPECT_THAT(row(report, "size-assertion")["text"].get<std::string>(), HasSubstr("Expected u0 >= 1 but received 0"));
  EXPECT_THAT(conclusion(report), HasSubstr("the input is at fault"));
}

TEST_F(Explain, AnIndexThatAnotherCallComputes) {
  PACKED(package, "explain_models.running_index");
  const json report = explain(
      {"--case", input("input scores f32[3,4] const(1.0)\ninput rows f32[4,5] const(2.0)\n"), "--package", package});
  const json index = row(report, "index-out-of-bounds");
  ASSERT_FALSE(index.is_null()) << report.dump(1);
  EXPECT_THAT(index["at_fault"].get<std::string>(), HasSubstr("aoti_torch_cpu_sort_stable (call 2)"));
  EXPECT_THAT(fact(index, "upstream"), HasSubstr("cpp_fused_gt_sum_0 (call 1) <- input scores"));
}

TEST_F(Explain, APackageOfTorchAloneTellsTheSame) {
  PACKED(package, "example.embedding_mlp.stock");
  // Kernels of 2.12 and older check the index after they have wrapped it around: another variable.
  json index;
  for (const char* variable : {"tmp2", "tmp7"}) {
    index = row(explain_text("Error: index out of bounds: 0 <= " + std::string(variable) + " < 100L", package),
                "index-out-of-bounds");
    if (fact(index, "kernel") == "cpp_fused_add_embedding_0") break;
  }
  EXPECT_EQ(fact(index, "kernel"), "cpp_fused_add_embedding_0");
  EXPECT_THAT(index["at_fault"].get<std::string>(), HasSubstr("the values of input arg6_1"));
  EXPECT_THAT(fact(index, "guards the load"), HasSubstr("weight tokens.weight"));
}

TEST_F(Explain, ACaseThatGivesAnotherErrorThanTheLogIsSaidTo) {
  PACKED(package, "example.embedding_mlp");
  const json report = explain({file("log.txt", "index out of bounds: 0 <= tmp2 < 100L"), "--package", package, "--case",
                               input("input x f32[2,3,16] const(1.0)\ninput idx i64[2,3] const(7)\n")});
  EXPECT_THAT(report["notes"].dump(), HasSubstr("does not give the error of line 1"));
  EXPECT_THAT(conclusion(report), HasSubstr("nothing goes wrong"));
}

TEST_F(Explain, ATextOfAnotherPackageIsSaidToBeOne) {
  PACKED(package, "example.embedding_mlp");
  const json index = row(explain_text("index out of bounds: 0 <= tmp99 < 3L", package), "index-out-of-bounds");
  EXPECT_THAT(fact(index, "kernel"), HasSubstr("is of another one"));
}

TEST_F(Explain, RefusedInputsAreNamedWithDimensionAndSymbol) {
  PACKED(package, "example.embedding_mlp");
  const auto refused = [&](const std::string& x, const std::string& idx) {
    return explain({"--case", input("input x " + x + "\ninput idx " + idx + "\n"), "--package", package});
  };
  json one = row(refused("f32[1,7,16] const(1.0)", "i64[1,7] const(1)"), "input-size");
  EXPECT_EQ(fact(one, "must equal"), "idx.size(0)");
  EXPECT_EQ(fact(one, "got"), "1");
  EXPECT_THAT(one["at_fault"].get<std::string>(), HasSubstr("stricter than the declared range"));
  const json wrong = refused("f64[4,7,16] const(1.0)", "i64[4,7] const(1)");
  one = row(wrong, "input-dtype");
  EXPECT_EQ(fact(one, "expected"), "f32");
  EXPECT_EQ(fact(one, "got"), "f64");
  EXPECT_THAT(steps(wrong), HasSubstr("x.dtype == f32"));
  one = row(refused("f32[4,7,16] const(1.0) strides=[112,1,7]", "i64[4,7] const(1)"), "input-stride");
  EXPECT_THAT(one["at_fault"].get<std::string>(), HasSubstr("x.stride(1) is 1"));
  one = row(refused("f32[65,7,16] const(1.0)", "i64[65,7] const(1)"), "input-size");
  EXPECT_EQ(fact(one, "expected"), "at most 64");
  one = row(refused("f32[4,7,15] const(1.0)", "i64[4,7] const(1)"), "input-size");
  EXPECT_EQ(fact(one, "dimension"), "x.size(2)");
}

TEST_F(Explain, AMemoryFaultNamesKernelLineAndCondition) {
  PACKED(package, "example.embedding_mlp");
  const json report =
      explain({"--case", input("input x f32[2,3,16] const(1.0)\ninput idx i64[2,1] const(1)\n"), "--package", package});
  EXPECT_THAT(conclusion(report), HasSubstr("kernel cpp_fused_add_embedding_0"));
  EXPECT_THAT(conclusion(report), HasSubstr("idx.size(1) == x.size(1)"));
  EXPECT_THAT(row(report, "segfault")["at_fault"].get<std::string>(), HasSubstr("cpp_fused_add_embedding_0"));
}

TEST_F(Explain, AnOperatorThatReturnsLessThanItsFakeDeclares) {
  PACKED(package, "explain_models.custom_operator");
  const json report = with_operator(package, "short");
  EXPECT_THAT(conclusion(report), HasSubstr("operator explain_ops.double.default"));
  EXPECT_THAT(conclusion(report), HasSubstr("fake (meta) kernel"));
}

TEST_F(Explain, AnOperatorThatEndsTheProcess) {
  PACKED(package, "explain_models.custom_operator");
  for (const auto& [fault, pattern] : std::map<std::string, std::string>{{"later-abort", "abort"},
                                                                         {"later-heap", "heap-damage"},
                                                                         {"later-hang", "hang"},
                                                                         {"later-illegal", "illegal-instruction"},
                                                                         {"later-divide", "division-by-zero"}}) {
    const json report = with_operator(package, fault);
    const json one = row(report, pattern);
    ASSERT_FALSE(one.is_null()) << fault << report.dump(1);
    EXPECT_THAT(one["at_fault"].get<std::string>(), HasSubstr("operator explain_ops.double.default")) << fault;
  }
}

TEST_F(Explain, WhereTheReferenceFailsTooThePackageIsNotBlamed) {
  PACKED(package, "explain_models.custom_operator");
  const json died = with_operator(package, "abort", 0);
  EXPECT_THAT(conclusion(died), HasSubstr("the package was not judged"));
  EXPECT_THAT(conclusion(died), HasSubstr("explain_ops.double.default"));
  EXPECT_FALSE(died["fault"].get<bool>());
  EXPECT_FALSE(row(with_operator(package, "exhaust", 0), "out-of-memory").is_null());
}

TEST_F(Explain, ARightPackageIsNotBlamed) {
  PACKED(package, "explain_models.custom_operator");
  const json report = with_operator(package, "", 0);
  EXPECT_THAT(conclusion(report), HasSubstr("nothing goes wrong"));
  EXPECT_TRUE(report["found"].empty()) << report.dump(1);
}

TEST_F(Explain, AnOperatorWhoseLibraryIsNotLoaded) {
  PACKED(package, "explain_models.custom_operator");
  const std::string example = input("input x f32[5,3] const(1.0)\n");
  const json report = explain({"--case", example, "--package", package});
  const json one = row(report, "missing-operator");
  EXPECT_EQ(fact(one, "operators that are not torch's own"), "explain_ops.double.default");
  EXPECT_THAT(conclusion(report), HasSubstr("cannot be run here"));
}

TEST_F(Explain, ALibraryThatNeedsWhatIsNotThere) {
  PACKED(package, "explain_models.custom_operator");
  const std::string source =
      file("ops.cpp", "extern \"C\" int aoti_torch_cpu_new_thing(); int once = aoti_torch_cpu_new_thing();\n");
  const std::string library = folder_ / "libops.so";
  ASSERT_EQ(run_program({"/usr/bin/g++", "-shared", "-fPIC", source, "-o", library}).exit_code, 0);
  const json report =
      explain({"--case", input("input x f32[5,3] const(1.0)\n"), "--package", package, "--ops", library});
  EXPECT_FALSE(row(report, "missing-shim").is_null()) << report.dump(1);
}

TEST_F(Explain, APackageWithoutItsWeights) {
  PACKED(package, "explain_models.one_layer");
  const json report = explain({"--case", input("input x f32[3,4] const(1.0)\n"), "--package", package});
  EXPECT_THAT(conclusion(report), HasSubstr("has no weights"));
  EXPECT_THAT(row(report, "segfault")["to_change"].get<std::string>(), HasSubstr("load_constants"));
  EXPECT_THAT(explain_text("Segmentation fault (core dumped)", package)["notes"].dump(), HasSubstr("without its"));
  const json constants = explain_text("Error: Cannot find constants weight in constants_map!", package);
  EXPECT_THAT(fact(row(constants, "unresolved-constants"), "constants"), HasSubstr("weight"));
  // Whoever judges it would call a missing argument a fault of the package.
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "5", "--out", folder_ / "out"});
  EXPECT_EQ(fuzzed.exit_code, 3) << fuzzed.out;
  EXPECT_THAT(fuzzed.err, HasSubstr("holds no weights"));
}

TEST_F(Explain, NanNamesWhoMakesIt) {
  PACKED(package, "explain_models.logarithm");
  const json made = explain({"--case", input("input x f32[3,3] const(-1.0)\n"), "--package", package});
  EXPECT_THAT(conclusion(made), HasSubstr("makes it of inputs without NaN"));
  const std::string torch = compiled_by(package);
  ASSERT_THAT(torch, StartsWith("2."));
  // On the CPU, older ones do not check inputs for NaN.
  if (torch.starts_with("2.11.") || torch.starts_with("2.12.")) return;
  const json given = explain({"--case", input("input x f32[3,3] const(nan)\n"), "--package", package}, 1);
  EXPECT_THAT(row(given, "nan")["at_fault"].get<std::string>(), HasSubstr("input x holds it already"));
}

TEST_F(Explain, AWrongResultNamesTheFirstBadKernel) {
  PACKED(package, "faults.f191499_extremes_of_byte_rows");
  const json report = explain({"--case", input("input x u8[2,20] const(5)\n"), "--package", package}, 1);
  EXPECT_THAT(conclusion(report), HasSubstr("culprit: kernel cpp_fused_"));
  EXPECT_THAT(steps(report), HasSubstr("upstream, call 1: cpp_fused_"));
}

TEST_F(Explain, AFindingsFolderIsExplained) {
  PACKED(package, "example.exposure_meter");
  const std::string out = folder_ / "out";
  aotifuzz({"fuzz", package, "--out", out, "--cases", "300", "--quiet"});
  std::string finding;
  for (const auto& entry : std::filesystem::directory_iterator(out + "/findings"))
    if (read(entry.path().string() + "/finding.json").find("wrong-result output 0 aten.amin") != std::string::npos)
      finding = entry.path();
  ASSERT_NE(finding, "");
  const json report = explain({finding, "--reduce-runs", "0"}, 1);
  const json one = row(report, "wrong-result");
  EXPECT_THAT(one["at_fault"].get<std::string>(), HasSubstr("cpp_fused_amax_amin_argmax_0"));
  EXPECT_THAT(conclusion(report), HasSubstr("the package is at fault"));
}

TEST_F(Explain, LogsOfPythonAreRecognised) {
  PACKED(package, "example.embedding_mlp");
  const Ended ended = run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_EXPLAIN_ERRORS, package});
  std::istringstream lines(ended.out);
  std::map<std::string, std::string> sections;
  std::string name;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("== "))
      name = line.substr(3);
    else
      sections[name] += line + "\n";
  ASSERT_EQ(name, "end") << ended.out << ended.err;
  ASSERT_GE(sections.size(), 15u) << ended.out;
  for (const auto& [pattern, text] : sections) {
    const json report = explain_text(text, package);
    EXPECT_FALSE(row(report, pattern).is_null()) << pattern << ":\n" << text << report.dump(1);
    EXPECT_EQ(report["found"].size(), 1u) << pattern << ":\n" << text << report.dump(1);
  }
}

TEST_F(Explain, ALogIsExplainedThoughThePackageCannotBeRead) {
  const std::string cut = file("cut.pt2", "PK\x03\x04 and no more");
  const std::string log = "RuntimeError: Failed to initialize zip archive: failed finding central directory\n";
  const json report = explain_text(log, cut);
  EXPECT_FALSE(row(report, "package-damaged").is_null()) << report.dump(1);
  EXPECT_THAT(report["notes"].dump(), HasSubstr("the package cannot be read"));
  EXPECT_FALSE(row(explain_text("IndexError: index out of range in self\n", folder_ / "nobody.pt2"),
                   "index-out-of-bounds-in-aten")
                   .is_null());
  // A case cannot be run on it: said, and the log explained all the same.
  const json with_case =
      explain({file("log.txt", log), "--package", cut, "--case", input("input x f32[1] const(1.0)\n")});
  EXPECT_FALSE(row(with_case, "package-damaged").is_null()) << with_case.dump(1);
  EXPECT_THAT(steps(with_case), HasSubstr("load: the package cannot be read"));
  // Without anything else to say it is the error.
  EXPECT_EQ(aotifuzz({"explain", file("log.txt", "all is well\n"), "--package", cut}).exit_code, 3);
}

TEST_F(Explain, OfALongLogTheEndIsRead) {
  std::string text = "Illegal instruction (core dumped)\n";
  while (text.size() <= 65 << 20) text += std::string(4'000, 'x') + "\n";
  const json report = explain({file("log.txt", text + "Segmentation fault (core dumped)\n")});
  EXPECT_FALSE(row(report, "segfault").is_null());
  EXPECT_TRUE(row(report, "illegal-instruction").is_null());
}

TEST_F(Explain, WhatIsNotKnownSaysWhatToRun) {
  const Ended ended = aotifuzz({"explain", file("log.txt", "all is well\n")});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.out, HasSubstr("nothing in the text is known here"));
  EXPECT_THAT(ended.out, HasSubstr("aotifuzz fuzz PACKAGE"));
  EXPECT_EQ(aotifuzz({"explain", folder_ / "nobody.txt"}).exit_code, 3);
  EXPECT_EQ(aotifuzz({"explain", folder_.path(), "--case", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace aotifuzz::test
