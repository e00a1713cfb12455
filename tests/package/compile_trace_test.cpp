#include "package/compile_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "package/compile_trace_report.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kData = AOTIFUZZ_TEST_DATA;

/// What torch compiled when it wrote the recorded trace of `version`: x f32[s17, s27], y f32[s17, 6], mask bool[s31].
PackageInfo package_of(const std::string& version) {
  PackageInfo out;
  out.path = "model.pt2";
  const auto input = [&](const char* name, Dtype dtype, std::vector<Expr> sizes) {
    InputSpec spec;
    spec.name = name;
    spec.dtype = dtype;
    spec.sizes = std::move(sizes);
    out.contract.inputs.push_back(std::move(spec));
  };
  input("x", Dtype::kF32, {Expr::symbol("s17"), Expr::symbol("s27")});
  input("y", Dtype::kF32, {Expr::symbol("s17"), Expr::integer(6)});
  input("mask", Dtype::kBool, {Expr::symbol("s31")});
  out.contract.symbols = {{"s17", "x.size(0)", 4, {}, false},
                          {"s27", "x.size(1)", 0, {}, false},
                          {"s31", "mask.size(0)", 0, {}, false},
                          {"u0", "", 1, {}, true}};
  out.compiled.emplace();
  const bool old = version == "2.11.0";
  for (const char* name :
       old ? std::vector<const char*>{"cpp_fused_add_cumsum_mul_sum_view_0", "cpp_fused__softmax_zeros_1"}
           : std::vector<const char*>{"cpp_fused__softmax_add_cumsum_mul_sum_view_zeros_0"}) {
    KernelInfo kernel;
    kernel.name = name;
    out.compiled->kernels.push_back(kernel);
  }
  return out;
}

/// The base name of the wrapper that the log names.
std::string wrapper_of(const std::string& log) {
  const size_t end = log.find(".wrapper.cpp\""), begin = log.rfind('/', end) + 1;
  return log.substr(begin, end - begin);
}

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string log_of(const std::string& version) { return kData + "/compile_trace_" + version + ".log"; }

Case sized(int64_t rows, int64_t columns, int64_t y_columns, int64_t mask) {
  Case c;
  const auto input = [&](const char* name, std::vector<int64_t> sizes) {
    CaseInput one;
    one.name = name;
    one.sizes = std::move(sizes);
    c.inputs.push_back(std::move(one));
  };
  input("x", {rows, columns});
  input("y", {rows, y_columns});
  input("mask", {mask});
  return c;
}

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("compile_trace_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

std::string refusal(const std::string& path, const PackageInfo& package) {
  try {
    read_compile_trace(path, package);
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "accepted";
}

class CompileTraceOf : public ::testing::TestWithParam<const char*> {};

TEST_P(CompileTraceOf, GuardsHaveTheModelsLineAndTheContractsNames) {
  const CompileTrace trace = read_compile_trace(log_of(GetParam()), package_of(GetParam()));
  const auto line = [&](const std::string& text) -> std::string {
    for (const TracedGuard& guard : trace.guards)
      if (guard.text == text) return guard.compiler ? "compiler" : guard.line;
    return "no such guard";
  };
  EXPECT_EQ(line("x.size(0) > 3"), "model.py:6: if x.shape[0] > 3:");
  EXPECT_EQ(line("y.size(1) == 6"), "model.py:8: if y.shape[1] == 6:");
  EXPECT_EQ(line("x.size(0) == y.size(0)"), "model.py:10: x = x + y.sum(1, keepdim=True)");
  EXPECT_EQ(line("x.size(1) % 4 == 0"), "model.py:11: torch._check(x.shape[1] % 4 == 0)");
  EXPECT_EQ(line("u0 >= 1"), "model.py:13: torch._check(kept.size(0) >= 1)");
  EXPECT_EQ(line("x.size(1) != 4"), "compiler");
}

TEST_P(CompileTraceOf, SymbolsSayWhatTheyAre) {
  const CompileTrace trace = read_compile_trace(log_of(GetParam()), package_of(GetParam()));
  std::vector<std::string> seen;
  for (const TracedSymbol& one : trace.symbols)
    seen.push_back(one.name + " " + one.dimension + " " + one.example + one.line);
  EXPECT_THAT(seen, ElementsAre("s77 x.size(0) 8", "s27 x.size(1) 8", "s17 y.size(0) 8", "s94 y.size(1) 6",
                                "s31 mask.size(0) 5", "u0  model.py:12: kept = torch.nonzero(mask)"));
  ASSERT_EQ(trace.specialisations.size(), 1u);
  EXPECT_EQ(trace.specialisations[0].dimension, "y.size(1)");
  EXPECT_EQ(trace.specialisations[0].value, "6");
  EXPECT_EQ(trace.specialisations[0].line, "model.py:8: if y.shape[1] == 6:");
}

TEST_P(CompileTraceOf, ACaseIsToldWhichGuardsItBreaks) {
  const CompileTrace trace = read_compile_trace(log_of(GetParam()), package_of(GetParam()));
  EXPECT_THAT(broken_guards(trace, sized(8, 8, 6, 5)), IsEmpty());
  EXPECT_THAT(broken_guards(trace, sized(3, 8, 6, 5)), Contains("x.size(0) > 3 at model.py:6: if x.shape[0] > 3:"));
  EXPECT_THAT(broken_guards(trace, sized(8, 4, 6, 5)),
              Contains("x.size(1) != 4, which inductor assumed while it compiled"));
  EXPECT_THAT(broken_guards(trace, sized(8, 8, 6, 1)),
              ElementsAre(StartsWith("mask.size(0) >= 2, the range [2, int_oo] that export gave s31")));
  EXPECT_THAT(broken_guards(trace, "y.size(1)", 7), ElementsAre("y.size(1) == 6 at model.py:8: if y.shape[1] == 6:"));
  EXPECT_THAT(broken_guards(trace, "y.size(1)", 6), IsEmpty());
}

TEST_P(CompileTraceOf, AConditionIsFoundHoweverItIsWritten) {
  const CompileTrace trace = read_compile_trace(log_of(GetParam()), package_of(GetParam()));
  const Expr x = Expr::symbol("x.size(0)"), y = Expr::symbol("y.size(0)");
  EXPECT_THAT(guards_of(trace, Expr::make(ExprOp::kEq, {y, x})), ElementsAre(HasSubstr("at model.py:10")));
  EXPECT_THAT(guards_of(trace, Expr::make(ExprOp::kGe, {x, Expr::integer(4)})),
              ElementsAre(HasSubstr("at model.py:6")));
  EXPECT_THAT(guards_of(trace, Expr::make(ExprOp::kGe, {x, Expr::integer(5)})), IsEmpty());
}

TEST_P(CompileTraceOf, TheWrapperDecidesBeforeKernelNames) {
  PackageInfo package = package_of(GetParam());
  EXPECT_THAT(read_compile_trace(log_of(GetParam()), package).match, HasSubstr("by kernel names"));
  package.compiled->so_member = "data/aotinductor/model/" + wrapper_of(read(log_of(GetParam()))) + ".wrapper.so";
  package.compiled->kernels.clear();
  EXPECT_EQ(read_compile_trace(log_of(GetParam()), package).match,
            "the package holds the wrapper that the trace names");
}

TEST_P(CompileTraceOf, ATraceOfAnotherModelIsRefused) {
  PackageInfo package = package_of(GetParam());
  package.compiled->kernels[0].name = "cpp_fused_relu_0";
  EXPECT_THAT(refusal(log_of(GetParam()), package), HasSubstr("is of another model or another compilation"));
  EXPECT_THAT(refusal(log_of(GetParam()), package), HasSubstr("the package's are"));
}

TEST_P(CompileTraceOf, AnExportOfOtherSymbolsIsLeftOut) {
  PackageInfo package = package_of(GetParam());
  package.contract.symbols[0].name = "s5";
  const CompileTrace trace = read_compile_trace(log_of(GetParam()), package);
  EXPECT_THAT(trace.symbols, IsEmpty());
  EXPECT_THAT(trace.notes, Contains(HasSubstr("the export is not in the trace")));
}

TEST_P(CompileTraceOf, CutEntriesAreCountedAndTheRestIsRead) {
  const std::string log = read(log_of(GetParam()));
  const Folder folder;
  // In the middle of the last line; and a line in the middle that lost its end.
  std::string cut = log.substr(0, log.size() - 40);
  const size_t entry = cut.find("\"expr\": \"s77 > 3\"");
  cut.replace(entry, cut.find('\n', entry) - entry, "\"expr\": \"s7");
  folder.put("dedicated_log_torch_trace_cut.log", cut);
  const CompileTrace trace = read_compile_trace(folder.path(), package_of(GetParam()));
  EXPECT_EQ(trace.unreadable, log.back() == '\n' && log[log.rfind('\n', log.size() - 2) + 1] == '\t' ? 1u : 2u);
  EXPECT_THAT(trace.notes, Contains(HasSubstr("entries cannot be read")));
  EXPECT_THAT(broken_guards(trace, "x.size(0)", 3), IsEmpty()) << "that guard was lost";
  EXPECT_THAT(broken_guards(trace, "y.size(1)", 7), Not(IsEmpty()));
}

TEST_P(CompileTraceOf, OfTwoExportsInOneLogThePackagesIsTaken) {
  // Another model is exported before, and one after: same symbol names, other guards.
  std::string other = read(log_of(GetParam()));
  other = other.substr(0, other.find("before_pre_grad_graph"));
  other = other.substr(0, other.rfind('\n') + 1);
  for (size_t at; (at = other.find("s77 > 3")) != std::string::npos;) other.replace(at, 7, "s77 > 5");
  for (size_t at; (at = other.find("['mask']")) != std::string::npos;) other.replace(at, 8, "['keep']");
  for (size_t at; (at = other.find("s31")) != std::string::npos;) other.replace(at, 3, "s32");
  const Folder folder;
  folder.put("raw.log", other + read(log_of(GetParam())) + other);
  const CompileTrace trace = read_compile_trace(folder.path(), package_of(GetParam()));
  EXPECT_THAT(broken_guards(trace, "x.size(0)", 3), Contains(HasSubstr("x.size(0) > 3")));
  EXPECT_THAT(broken_guards(trace, "x.size(0)", 5), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Recorded, CompileTraceOf, ::testing::Values("2.15.0", "2.11.0"));

TEST(CompileTrace, KernelsHaveTheLinesThatWereRecordedForThem) {
  const CompileTrace trace = read_compile_trace(log_of("2.15.0"), package_of("2.15.0"));
  EXPECT_EQ(trace.torch, "2.15.0+cu132");
  const TracedKernel* kernel = trace.find_kernel("aoti_torch_cpu_nonzero");
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(kernel->by_name);
  EXPECT_THAT(kernel->lines, ElementsAre("model.py:12: kept = torch.nonzero(mask)"));
  EXPECT_FALSE(trace.find_kernel("cpp_fused_relu_0"));
}

TEST(CompileTrace, WithoutProvenanceTheOperatorsOfTheNameTell) {
  const CompileTrace trace = read_compile_trace(log_of("2.11.0"), package_of("2.11.0"));
  const TracedKernel* kernel = trace.find_kernel("cpp_fused_add_cumsum_mul_sum_view_0");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE(kernel->by_name);
  EXPECT_THAT(kernel->lines, ElementsAre("model.py:7: x = x * 2", "model.py:9: y = y + 1",
                                         "model.py:10: x = x + y.sum(1, keepdim=True)", StartsWith("model.py:14: ")));
}

TEST(CompileTrace, LinesOfAnyLengthAreRead) {
  std::string log = read(log_of("2.15.0"));
  const size_t at = log.find("File \\\"/home/user/model.py");
  ASSERT_NE(at, std::string::npos);
  log.insert(at, "File \\\"" + std::string(3 << 20, 'a') + "\\\", line 1, in f\\n");
  const size_t graph = log.find("# File: /home/user/model.py");
  ASSERT_NE(graph, std::string::npos);
  log.insert(graph, "# File: " + std::string(3 << 20, 'b') + "\n\t");
  const Folder folder;
  folder.put("raw.log", log);
  EXPECT_FALSE(read_compile_trace(folder.path(), package_of("2.15.0")).kernels.empty());
}

TEST(CompileTrace, WhatIsNoTraceGetsAWordOfItsOwn) {
  const PackageInfo package = package_of("2.15.0");
  const Folder folder;
  EXPECT_THAT(refusal(folder.path() + "/none", package), HasSubstr("there is no such compile-time trace"));
  EXPECT_THAT(refusal(folder.path(), package), HasSubstr("the folder is empty"));
  folder.put("notes.txt", "x");
  EXPECT_THAT(refusal(folder.path(), package), HasSubstr("holds no log of TORCH_TRACE"));
  folder.put("compile_directory.json", "{}");
  EXPECT_THAT(refusal(folder.path(), package), HasSubstr("lacks raw.log"));
  folder.put("raw.log", "");
  EXPECT_THAT(refusal(folder.path(), package), HasSubstr("the trace is empty"));
  folder.put("raw.log", "hello\nworld\n");
  EXPECT_THAT(refusal(folder.path(), package), HasSubstr("none of its 2 lines"));
}

TEST(CompileTrace, AnExportAloneIsTakenByItsSymbols) {
  std::string log = read(log_of("2.15.0"));
  log = log.substr(0, log.find("before_pre_grad_graph"));
  const Folder folder;
  folder.put("raw.log", log.substr(0, log.rfind('\n') + 1));
  const CompileTrace trace = read_compile_trace(folder.path(), package_of("2.15.0"));
  EXPECT_THAT(trace.match, HasSubstr("by its symbols"));
  EXPECT_EQ(trace.symbols.size(), 6u);
  EXPECT_THAT(trace.kernels, IsEmpty());
}

TEST(CompileTrace, TheReportHasEverySection) {
  const CompileTrace trace = read_compile_trace(log_of("2.15.0"), package_of("2.15.0"));
  std::ostringstream out;
  print_compile_trace(trace, out);
  for (const char* text :
       {"compile-time trace  ", "    s77 = x.size(0), range [2, int_oo], 8 in the example\n",
        "    u0 = known at run time only: model.py:12: kept = torch.nonzero(mask), range [-int_oo, int_oo]\n",
        "    y.size(1) = 6: model.py:8: if y.shape[1] == 6: (range_refined_to_singleton)\n",
        "  guards of the model\n    x.size(0) > 3: model.py:6: if x.shape[0] > 3:\n",
        "  assumed by the compiler, not declared\n", "    aoti_torch_cpu_nonzero\n      model.py:12: "})
    EXPECT_THAT(out.str(), HasSubstr(text));
  const nlohmann::ordered_json json = compile_trace_json(trace);
  EXPECT_EQ(json["guards"][0]["condition"], "x.size(0) > 3");
  EXPECT_EQ(json["guards"][0]["by_compiler"], false);
  EXPECT_EQ(json["unreadable"], 0);
  EXPECT_EQ(json["kernels"].size(), trace.kernels.size());
}

}  // namespace
}  // namespace aotifuzz
