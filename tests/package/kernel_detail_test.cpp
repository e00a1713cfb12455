#include "package/kernel_detail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/package/package_builder.h"
#include "tests/support/kernel_maps.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kKernelText = R"(#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  cpp_fused_add_0(const float* in_ptr0,
                       float* out_ptr0);
extern "C"  void  cpp_fused_add_0(const float* in_ptr0,
                       float* out_ptr0)
{
    for(int i = 0; i < 4; ++i)
    {
        out_ptr0[i] = in_ptr0[i];
    }
}
extern "C"  void  cpp_fused_mul_1(float* in_out_ptr0)
{
}
)";

class KernelDetailTest : public ::testing::Test {
 protected:
  KernelDetailTest() {
    KernelMap map = testing::add_mul_map();
    map.calls[0].nodes = {"add"};
    map.graph.nodes[0].stack_trace = "  File \"/home/a/model.py\", line 7, in forward\n    return (a + b) * b\n";
    map.sources["triton_poi_fused_add_0"] = "@triton.jit\ndef triton_(in_ptr0):\n    pass\n";
    package_.kernels = std::make_shared<KernelMap>(std::move(map));
    package_.compiled.emplace();
    package_.compiled->name = "model";
    package_.compiled->symbol_dims["s0"] = "a.size(0)";
    for (const char* name : {"a", "b"}) {
      CaseInput input;
      input.name = name;
      input.kind = CaseInput::Kind::kTensor;
      input.dtype = Dtype::kF32;
      input.sizes = {40};
      case_.inputs.push_back(input);
    }
  }

  PackageInfo package_;
  Case case_;
};

TEST_F(KernelDetailTest, SaysWhatTheNamedKernelComputesFromWhat) {
  const Measures measures = kernel_measures(package_, case_, {{"kernel", "cpp_fused_add_0"}});
  EXPECT_THAT(measures, Contains(Pair("kernel's model line", "model.py:7 in forward: return (a + b) * b")));
  EXPECT_THAT(measures, Contains(Pair("kernel's nodes", "add (aten.add.Tensor)")));
  EXPECT_THAT(measures, Contains(Pair("kernel's arguments",
                                      "in_ptr0 in a f32[a.size(0)] = [40]; in_ptr1 in b f32[a.size(0)] = [40]; "
                                      "out_ptr0 out add f32[a.size(0)] = [40]")));
}

TEST_F(KernelDetailTest, AnUnknownKernelHasNone) {
  EXPECT_THAT(kernel_measures(package_, case_, {{"kernel", "cpp_fused_sub_9"}}), IsEmpty());
  EXPECT_THAT(kernel_measures(package_, case_, {}), IsEmpty());
  package_.kernels = nullptr;
  EXPECT_THAT(kernel_measures(package_, case_, {{"kernel", "cpp_fused_add_0"}}), IsEmpty());
}

TEST(NamedKernel, IsFoundWhereverTheVerdictHasIt) {
  EXPECT_EQ(named_kernel({{"stage", "subject"}, {"kernel", "cpp_fused_add_0"}}), "cpp_fused_add_0");
  EXPECT_EQ(named_kernel({{"step", "launch 2: triton_poi_fused_add_0"}}), "triton_poi_fused_add_0");
  EXPECT_EQ(named_kernel({{"step", "one of 3 launches"}}), "");
  EXPECT_EQ(named_kernel({{"kernel", "none of the 3 judged calls has an error of its own"}}), "");
}

TEST_F(KernelDetailTest, ATouchedIntermediateIsNamedByTheArgumentThatPointsIntoIt) {
  MemoryFault fault;
  fault.kernel = "cpp_fused_add_0";
  fault.argument = 2;
  EXPECT_EQ(touched_value(*package_.kernels, fault), "add (aten.add.Tensor)");
  fault.argument = 1;
  EXPECT_EQ(touched_value(*package_.kernels, fault), "b");
  fault.argument = 7;
  EXPECT_EQ(touched_value(*package_.kernels, fault), "");
  fault.argument = 2;
  fault.kernel = "cpp_fused_sub_9";
  EXPECT_EQ(touched_value(*package_.kernels, fault), "");
}

TEST_F(KernelDetailTest, TwoCallsThatDisagreeNameNothing) {
  KernelMap map = *package_.kernels;
  map.calls[1].kernel = "cpp_fused_add_0";
  MemoryFault fault;
  fault.kernel = "cpp_fused_add_0";
  fault.argument = 0;
  EXPECT_EQ(touched_value(map, fault), "");
}

TEST_F(KernelDetailTest, TheSourceIsReadFromTheArchive) {
  const TemporaryFile archive("p.pt2");
  write_zip(archive.path(), {{"p/data/aotinductor/model/c1.kernel.cpp", kKernelText}});
  package_.path = archive.path();
  const std::optional<KernelSource> source = kernel_source(package_, "cpp_fused_add_0");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->where, "c1.kernel.cpp:4-11");
  EXPECT_TRUE(source->text.starts_with("extern \"C\"  void  cpp_fused_add_0(const float* in_ptr0,\n"));
  EXPECT_TRUE(source->text.ends_with("    }\n}\n"));
  EXPECT_FALSE(kernel_source(package_, "cpp_fused_add").has_value());
  package_.path = "/nowhere.pt2";
  EXPECT_FALSE(kernel_source(package_, "cpp_fused_add_0").has_value());
}

TEST_F(KernelDetailTest, TheLineOfACrashComesWithItsText) {
  const TemporaryFile archive("p.pt2");
  write_zip(archive.path(), {{"p/data/aotinductor/model/c1.kernel.cpp", kKernelText}});
  package_.path = archive.path();
  EXPECT_EQ(crash_line(package_,
                       "run_reads (libx.so)\ncpp_fused_add_0 (package, kernel.cpp:9)\nrun (package, wrapper.cpp:3)"),
            "kernel.cpp:9: out_ptr0[i] = in_ptr0[i];");
  EXPECT_EQ(crash_line(package_, "cpp_fused_add_0 (package, kernel.cpp:900)"), "kernel.cpp:900");
  EXPECT_EQ(crash_line(package_, "cpp_fused_add_0 (package, other.cpp:9)"), "other.cpp:9");
  for (const char* stack : {"", "cpp_fused_add_0 (package)", "f (package, kernel.cpp)", "f (package, kernel.cpp:x)",
                            "f (package, kernel.cpp:0)", "f (package, "})
    EXPECT_EQ(crash_line(package_, stack), "") << stack;
}

TEST_F(KernelDetailTest, TheSourceOfATritonKernelIsInTheMap) {
  const std::optional<KernelSource> source = kernel_source(package_, "triton_poi_fused_add_0");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->where, "triton_poi_fused_add_0");
}

}  // namespace
}  // namespace aotifuzz
