#include "gate_report/source_lines.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace aotifuzz {
namespace {

TEST(SourceLines, FunctionNamesLoseWhatNobodyReads) {
  EXPECT_EQ(short_function_name("(anonymous namespace)::pad_meta(at::Tensor const&, c10::SymInt)"), "pad_meta");
  EXPECT_EQ(short_function_name("ns::pad_meta(at::Tensor const&)"), "ns::pad_meta");
  EXPECT_EQ(short_function_name("??"), "");
}

TEST(SourceLines, WithoutDebugInformationTheSymbolIsWhatIsKnown) {
  const std::vector<GateFrame> frames = {{"/nonexistent/libops.so", 16, "c10::TensorImpl::size(long) const"},
                                         {"/nonexistent/libops.so", 32, "ns::pad_meta(at::Tensor const&)"}};
  const SourceLine line = SourceLines(frames).user_line(frames);
  EXPECT_EQ(line.line, 0);
  EXPECT_EQ(line.function, "ns::pad_meta");
  EXPECT_EQ(SourceLines({}).user_line({}).function, "");
}

class RegistrationLine : public ::testing::Test {
 protected:
  RegistrationLine() {
    std::ofstream(path_) << "TORCH_LIBRARY(ns, m) {\n  m.def(\"pad(Tensor x) -> Tensor\");\n  m.def(\"pad.out(Tensor "
                            "x) -> Tensor\");\n}\n"
                            "TORCH_LIBRARY_IMPL(ns, Meta, m) {\n  m.impl(\"pad\", pad_meta);\n}\n";
  }
  ~RegistrationLine() override { std::filesystem::remove(path_); }
  const std::string path_ = ::testing::TempDir() + "registration_line_test.cpp";
};

TEST_F(RegistrationLine, IsTheOperatorsOwnInItsBlock) {
  EXPECT_EQ(registration_line(path_, 1, "ns::pad"), 2);
  EXPECT_EQ(registration_line(path_, 1, "ns::pad.out"), 3);
  EXPECT_EQ(registration_line(path_, 5, "ns::pad"), 6);
}

TEST_F(RegistrationLine, IsTheBlocksWhereTheOperatorIsNotNamed) {
  EXPECT_EQ(registration_line(path_, 5, "ns::pad.out"), 5);
  EXPECT_EQ(registration_line(path_ + ".gone", 5, "ns::pad"), 5);
}

TEST_F(RegistrationLine, SourcesAreFoundFromTheLibrarysFolder) {
  const std::filesystem::path file(path_);
  EXPECT_EQ(find_source(file.filename().string(), (file.parent_path() / "build/lib/libops.so").string()),
            file.lexically_normal().string());
  EXPECT_EQ(find_source("no/such.cpp", path_), "no/such.cpp");
}

}  // namespace
}  // namespace aotifuzz
