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

TEST(Coverage, ACellIsNewOnce) {
  Coverage coverage;
  EXPECT_TRUE(coverage.add(test::tied_case(20, 1), {}));
  const size_t cells = coverage.cells().size();
  EXPECT_FALSE(coverage.add(test::tied_case(22, 1), {})) << "the same size class";
  EXPECT_TRUE(coverage.add(test::tied_case(32, 1), {}));
  EXPECT_EQ(coverage.cells().size(), cells + 1);
  EXPECT_TRUE(coverage.add(test::tied_case(32, 1), {{Condition::Kind::kSize, 1, "y.size(0) == x.size(1)", ""}}));
}

TEST(Coverage, WaysOfCallingTwiceAreCells) {
  Coverage coverage;
  Case c = test::tied_case(20, 1);
  coverage.add(c, {});
  const size_t cells = coverage.cells().size();
  c.then.push_back({test::tied_case(3, 1).inputs, 1});
  EXPECT_TRUE(coverage.add(c, {}));
  c.callers = 2;
  EXPECT_TRUE(coverage.add(c, {}));
  c.constants = CaseConstants::kUpdated;
  EXPECT_TRUE(coverage.add(c, {}));
  EXPECT_FALSE(coverage.add(c, {}));
  EXPECT_EQ(coverage.cells().size(), cells + 3);
}

TEST(Coverage, SizeClassesAreThoseThatKernelsTellApart) {
  for (const auto& [size, name] : std::vector<std::pair<int64_t, std::string>>{{0, "0"},
                                                                               {1, "1"},
                                                                               {2, "2"},
                                                                               {3, "2^1+1"},
                                                                               {4, "2^2"},
                                                                               {6, "2^2..2^3"},
                                                                               {7, "2^3-1"},
                                                                               {48, "2^5..2^6, of 16"},
                                                                               {63, "2^6-1"},
                                                                               {1000, "2^9..2^10"},
                                                                               {int64_t{1} << 62, "2^62"}})
    EXPECT_EQ(size_class(size), name);
}

}  // namespace
}  // namespace aotifuzz
