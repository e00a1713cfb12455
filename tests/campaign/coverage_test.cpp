#include "campaign/coverage.h"

#include <gtest/gtest.h>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

CaseInput strided(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  CaseInput input = test::tensor("x", std::move(sizes));
  input.strides = std::move(strides);
  return input;
}

TEST(LayoutName, TellsTheKindsApart) {
  EXPECT_EQ(layout_name(test::tensor("x", {3, 4})), "dense");
  EXPECT_EQ(layout_name(strided({3, 4}, {1, 3})), "permuted");
  EXPECT_EQ(layout_name(strided({3, 4}, {6, 1})), "gaps");
  EXPECT_EQ(layout_name(strided({3, 4}, {1, 5})), "permuted with gaps");
  EXPECT_EQ(layout_name(strided({3, 4}, {0, 1})), "expanded");
  EXPECT_EQ(layout_name(strided({3, 4}, {2, 1})), "overlapping");
  EXPECT_EQ(layout_name(strided({1, 4}, {77, 1})), "dense") << "a size of 1 has no stride";
  CaseInput odd = test::tensor("x", {3});
  odd.offset = 1;
  odd.misalign_bytes = 4;
  EXPECT_EQ(layout_name(odd), "dense+offset+misaligned");
}

TEST(Coverage, CountsLandmarksThatWereHit) {
  Coverage coverage;
  coverage.expect("x.size(0)", {0, 2, 16});
  for (const int64_t n : {2, 3, 16, 16}) coverage.add(test::tied_case(n, 1), {});
  const Coverage::Dimension& dimension = coverage.dimensions().at("x.size(0)");
  EXPECT_EQ(dimension.hit, (std::set<int64_t>{2, 16}));
  EXPECT_EQ(dimension.least, 2);
  EXPECT_EQ(dimension.greatest, 16);
  EXPECT_EQ(coverage.legal_shaped(), 4u);
}

}  // namespace
}  // namespace aotifuzz
