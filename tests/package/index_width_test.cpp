#include "package/index_width.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_maps.h"

namespace aotifuzz {
namespace {

constexpr const char* kCpp =
    R"(extern "C"  void  cpp_fused_add_0(const float* in_ptr0, float* out_ptr0, const int64_t ks0)
{
    {
        #pragma omp parallel for
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
        { out_ptr0[static_cast<int64_t>(x0)] = in_ptr0[static_cast<int64_t>(x0)]; }
    }
}
)";

std::string triton(const std::string& type) {
  return "triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'ks0': 'i64', 'xnumel': '" + type +
         "', 'XBLOCK': 'constexpr'}}\ndef triton_poi_fused_add_0(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : "
         "tl.constexpr):\n    for r in range(4):\n        pass\n";
}

PackageInfo package(const std::string& text, std::optional<int64_t> rows_max = std::nullopt) {
  PackageInfo out;
  KernelMap map = testing::add_mul_map();
  map.sources["triton_poi_fused_add_0"] = text;
  map.calls[0].kernel = "triton_poi_fused_add_0";
  out.kernels = std::make_shared<KernelMap>(std::move(map));
  out.contract.symbols = {{"s0", "a.size(0)", 0, rows_max, false}};
  return out;
}

TEST(IndexWidth, IsThatOfTheLoopOrOfTheSignature) {
  EXPECT_EQ(indexing_of_text(kCpp).bits, 64);
  EXPECT_EQ(indexing_of_text(kCpp).says, "int64_t");
  EXPECT_EQ(indexing_of_text("{ for (int i = 0; i < 4; ++i) out[i] = 0; for(int64_t x0=0;;) {} }").bits, 32);
  EXPECT_EQ(indexing_of_text(triton("i32")).bits, 32);
  EXPECT_EQ(indexing_of_text(triton("i32")).says, "xnumel: i32");
  EXPECT_EQ(indexing_of_text(triton("i64")).bits, 64);
  EXPECT_EQ(indexing_of_text("{ out[0] = in[0]; perform(3); }").bits, 0);
}

TEST(IndexWidth, NamesTheElementsThatTheContractLetsPass32Bits) {
  const std::vector<KernelIndexing> free = kernel_indexing(package(triton("i32")));
  ASSERT_EQ(free.size(), 1u);
  EXPECT_EQ(free[0].kernel, "triton_poi_fused_add_0");
  ASSERT_TRUE(free[0].elements);
  EXPECT_EQ(free[0].elements->text(), "a.size(0)");
  EXPECT_FALSE(kernel_indexing(package(triton("i32"), 1000))[0].elements);
  EXPECT_FALSE(kernel_indexing(package(triton("i32"), (int64_t{1} << 31) - 1))[0].elements);
  EXPECT_TRUE(kernel_indexing(package(triton("i32"), int64_t{1} << 31))[0].elements);
}

}  // namespace
}  // namespace aotifuzz
