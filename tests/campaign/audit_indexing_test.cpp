#include "campaign/audit_indexing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

TEST(AuditIndexing, WideKernelsAreOneItemAndNarrowOnesALineEachWhereTheContractGoesBeyond) {
  const std::vector<KernelIndexing> kernels = {{"cpp_fused_0", 64, "int64_t", std::nullopt},
                                               {"cpp_fused_1", 64, "int64_t", Expr::symbol("x.size(0)")},
                                               {"triton_poi_0", 32, "xnumel: i32", Expr::symbol("x.size(0)")},
                                               {"triton_poi_1", 32, "xnumel: i32", std::nullopt}};
  const std::vector<AuditItem> items = index_width_items(kernels);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].name, "indices of 2 generated kernels");
  EXPECT_EQ(items[0].safe, "64 bits");
  EXPECT_EQ(items[0].word(), AuditWord::kOk);
  EXPECT_EQ(items[1].word(), AuditWord::kUnreached);
  EXPECT_THAT(items[1].lines.at(0).what, HasSubstr("x.size(0) may pass 2^31 - 1"));
  EXPECT_EQ(items[2].word(), AuditWord::kOk);
  EXPECT_TRUE(index_width_items({}).empty());
}

TEST(AuditIndexing, KernelsWithoutTextAreListed) {
  PackageInfo info;
  EXPECT_TRUE(index_width_untried(info, {}).empty());
  info.compiled.emplace();
  info.compiled->kernels.resize(3);
  info.compiled->kernels[0].is_extern = true;
  EXPECT_TRUE(index_width_untried(info, std::vector<KernelIndexing>(2)).empty());
  const std::vector<AuditUntried> one = index_width_untried(info, std::vector<KernelIndexing>(1));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].what, "width of the indices of 1 generated kernel");
}

}  // namespace
}  // namespace aotifuzz
