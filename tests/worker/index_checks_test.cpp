#include "worker/index_checks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

class IndexChecksTest : public ::testing::Test {
 protected:
  IndexChecksTest() {
    add("table", Dtype::kF32, {10});
    add("index", Dtype::kI64, {3});
    contract_.inputs[1].role.kind = ValueRole::Kind::kIndex;
    contract_.inputs[1].role.bound = Expr::symbol("table.size(0)");
  }
  void add(const std::string& name, Dtype dtype, std::vector<int64_t> sizes) {
    CaseInput input;
    input.name = name;
    input.dtype = dtype;
    input.sizes = std::move(sizes);
    case_.inputs.push_back(input);
    InputSpec spec;
    spec.name = name;
    spec.dtype = dtype;
    contract_.inputs.push_back(spec);
  }
  bool fit(std::vector<int64_t> values) const {
    const std::vector<at::Tensor> inputs = {at::zeros({10}), at::tensor(values)};
    return indices_fit(contract_, case_, inputs);
  }
  Case case_;
  Contract contract_;
};

TEST_F(IndexChecksTest, ValuesWithinTheIndexedDimensionFit) {
  EXPECT_TRUE(fit({0, 9, 4}));
  EXPECT_FALSE(fit({0, 10, 4}));
  EXPECT_FALSE(fit({0, -1, 4}));
  case_.inputs[0].sizes = {3};
  EXPECT_FALSE(fit({0, 9, 4}));
}

TEST_F(IndexChecksTest, IntegersOfAnotherUseAreNotKnownToFit) {
  contract_.inputs[1].role.kind = ValueRole::Kind::kOffsets;
  EXPECT_FALSE(fit({0, 1, 2}));
  contract_.inputs[1].role.kind = ValueRole::Kind::kIndex;
  contract_.inputs[1].role.bound.reset();
  EXPECT_FALSE(fit({0, 1, 2}));
}

TEST_F(IndexChecksTest, OnlyIntegersMayIndex) {
  EXPECT_TRUE(may_index(case_));
  case_.inputs.pop_back();
  EXPECT_FALSE(may_index(case_));
}

TEST(IndexErrors, AreToldFromOthers) {
  EXPECT_TRUE(is_index_error("index 12 is out of bounds for dimension 0 with size 10"));
  EXPECT_FALSE(is_index_error("The size of tensor a (3) must match the size of tensor b (4)"));
}

}  // namespace
}  // namespace aotifuzz
