#include "package/index_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// As torch 2.15.0 writes them for the CPU; names of files are shortened.
constexpr const char* kFile = R"(
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  cpp_fused_embedding_0(const int64_t* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0,
                       const int64_t ks0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
        auto tmp1 = tmp0;
        auto tmp2 = c10::convert<int64_t>(tmp1);
        AOTI_TORCH_CHECK((0 <= tmp2) & (tmp2 < 5L), "index out of bounds: 0 <= tmp2 < 5L");
        auto tmp4 = in_ptr1[static_cast<int64_t>(x1 + 2L*tmp0)];
        out_ptr0[static_cast<int64_t>(x1 + 2L*x0)] = tmp4;
    }
}
extern "C"  void  cpp_fused_index_put_1(const float* in_ptr0, const int64_t* in_ptr1, int64_t* out_ptr0, float* out_ptr1, const int64_t ks0);
extern "C"  void  cpp_fused_index_put_1(const float* in_ptr0, const int64_t* in_ptr1, int64_t* out_ptr0, float* out_ptr1, const int64_t ks0)
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = in_ptr1[static_cast<int64_t>(x0)];
        auto tmp1 = static_cast<int64_t>(3);
        auto tmp2 = int64_t(tmp0 + tmp1);
        out_ptr0[static_cast<int64_t>(x0)] = tmp2;
    }
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {
        auto tmp0 = out_ptr0[static_cast<int64_t>(x0)];
        auto tmp6 = in_ptr0[static_cast<int64_t>(x0)];
        AOTI_TORCH_CHECK((0 <= tmp0) & (tmp0 < ks0), "index out of bounds: 0 <= tmp0 < ks0");
        out_ptr1[static_cast<int64_t>(tmp0)] = tmp6;
    }
}
)";

// As torch 2.11.0 writes them for CUDA, in a comment of the wrapper.
constexpr const char* kTriton = R"(/*
async_compile.triton('triton_poi_fused_add_embedding_0', '''
import triton
@triton.jit
def triton_poi_fused_add_embedding_0(in_ptr0, in_ptr1, in_ptr2, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr2 + (x2), xmask)
    tmp1 = ks0
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    tl.device_assert(((0 <= tmp4) & (tmp4 < ks0)) | ~(xmask), "index out of bounds: 0 <= tmp4 < ks0")
    tmp6 = tl.load(in_ptr1 + (x0 + 16*tmp4), xmask)
    tmp8 = tmp6 + tmp7
    tl.store(out_ptr0 + (x2), tmp8, xmask)
''', device_str='cuda')
*/
)";

TEST(KernelTexts, FunctionsAndTritonButNoDeclarations) {
  const std::vector<KernelText> cpp = kernel_texts(GeneratedFile{"a.kernel.cpp", kFile});
  ASSERT_THAT(cpp, SizeIs(2));
  EXPECT_EQ(cpp[0].kernel, "cpp_fused_embedding_0");
  EXPECT_EQ(cpp[0].first_line, 3u);
  EXPECT_EQ(cpp[1].kernel, "cpp_fused_index_put_1");
  EXPECT_THAT(cpp[1].text, HasSubstr("tmp6"));
  const std::vector<KernelText> triton = kernel_texts(GeneratedFile{"a.wrapper.cpp", kTriton});
  ASSERT_THAT(triton, SizeIs(1));
  EXPECT_EQ(triton[0].kernel, "triton_poi_fused_add_embedding_0");
}

TEST(IndexChecks, NamesCheckLoadAndWhereTheIndexComesFrom) {
  const std::vector<IndexCheck> checks =
      find_index_checks(kernel_texts(GeneratedFile{"a.kernel.cpp", kFile}), "tmp2", "5L");
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].kernel, "cpp_fused_embedding_0");
  EXPECT_EQ(checks[0].where, "a.kernel.cpp:13");
  EXPECT_EQ(checks[0].access_where, "a.kernel.cpp:14");
  EXPECT_EQ(checks[0].accessed, "in_ptr1");
  EXPECT_FALSE(checks[0].stores);
  EXPECT_THAT(checks[0].pointers, ElementsAre("in_ptr0"));
  EXPECT_THAT(checks[0].made, SizeIs(3));
}

TEST(IndexChecks, AnIndexThatTheKernelWroteItselfIsFollowedFurther) {
  const std::vector<IndexCheck> checks =
      find_index_checks(kernel_texts(GeneratedFile{"a.kernel.cpp", kFile}), "tmp0", "ks0");
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_THAT(checks[0].pointers, ElementsAre("in_ptr1"));
  EXPECT_EQ(checks[0].accessed, "out_ptr1");
  EXPECT_TRUE(checks[0].stores);
  EXPECT_THAT(checks[0].sizes, ElementsAre("ks0"));
}

TEST(IndexChecks, ReadsTriton) {
  const std::vector<IndexCheck> checks =
      find_index_checks(kernel_texts(GeneratedFile{"a.wrapper.cpp", kTriton}), "tmp4", "ks0");
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].accessed, "in_ptr1");
  EXPECT_THAT(checks[0].access, HasSubstr("tl.load(in_ptr1 + (x0 + 16*tmp4)"));
  EXPECT_THAT(checks[0].pointers, ElementsAre("in_ptr0"));
  EXPECT_THAT(checks[0].sizes, ElementsAre("ks0"));
}

TEST(IndexChecks, AnotherBoundIsAnotherCheck) {
  const std::vector<KernelText> kernels = kernel_texts(GeneratedFile{"a.kernel.cpp", kFile});
  EXPECT_THAT(find_index_checks(kernels, "tmp2", "6L"), IsEmpty());
  EXPECT_THAT(find_index_checks(kernels, "tmp3", "5L"), IsEmpty());
  EXPECT_THAT(find_index_checks({}, "tmp2", "5L"), IsEmpty());
}

}  // namespace
}  // namespace aotifuzz
