#include "gate/tensor_facts.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

std::string kinds(const std::vector<at::Tensor>& meta, const std::vector<at::Tensor>& kernel,
                  const std::vector<at::Tensor>& meta_inputs = {}, const std::vector<at::Tensor>& kernel_inputs = {}) {
  std::vector<TensorFacts> m, k;
  for (const at::Tensor& tensor : meta) m.push_back(TensorFacts::of(tensor, meta_inputs));
  for (const at::Tensor& tensor : kernel) k.push_back(TensorFacts::of(tensor, kernel_inputs));
  std::string out;
  for (const FactsDifference& difference : compare_facts(m, k, {}, {"x", "y"}))
    out += (out.empty() ? "" : ",") + difference.kind;
  return out;
}

TEST(TensorFacts, WhatDiffersIsNamedOnceAnOutput) {
  const at::Tensor x = at::empty({3, 4});
  EXPECT_EQ(kinds({x}, {at::empty({3, 4})}), "");
  EXPECT_EQ(kinds({x}, {at::empty({4, 3}).t()}), "meta-wrong-stride");
  EXPECT_EQ(kinds({x}, {at::empty({4, 3})}), "meta-wrong-size") << "strides differ too, and follow from it";
  EXPECT_EQ(kinds({x}, {at::empty({3, 4}, at::kLong)}), "meta-wrong-dtype");
  EXPECT_EQ(kinds({x}, {at::empty({14}).slice(0, 2).view({3, 4})}), "meta-wrong-stride") << "offset";
  EXPECT_EQ(kinds({x}, {x, x}), "meta-wrong-count");
  EXPECT_EQ(kinds({x}, {at::Tensor()}), "meta-wrong-count");
  EXPECT_EQ(kinds({x, x}, {at::empty({3, 4}, at::kLong), at::empty({1})}), "meta-wrong-dtype,meta-wrong-size");
}

TEST(TensorFacts, DevicesAreComparedWhereBothSidesSayOne) {
  TensorFacts meta = TensorFacts::of(at::empty({3}), {}), kernel = meta;
  kernel.device = at::kCPU;
  EXPECT_TRUE(compare_facts({meta}, {kernel}, {}, {}).empty());
  meta.device = at::Device(at::kCUDA, 0);
  const auto differences = compare_facts({meta}, {kernel}, {}, {});
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].kind, "meta-wrong-device");
  EXPECT_EQ(differences[0].meta, "cuda:0");
  EXPECT_EQ(differences[0].kernel, "cpu");
}

TEST(TensorFacts, StridesThatMeanNothingAreNotCompared) {
  EXPECT_EQ(kinds({at::empty({1, 4})}, {at::empty({4, 1}).t()}), "");
  EXPECT_EQ(kinds({at::empty({0, 4})}, {at::empty({4, 0}).t()}), "");
}

TEST(TensorFacts, SharedMemoryIsComparedByInput) {
  const at::Tensor x = at::empty({3}), other = at::empty({3});
  EXPECT_EQ(kinds({x.view({3})}, {x.view({3})}, {x}, {x}), "");
  EXPECT_EQ(kinds({at::empty({3})}, {x.view({3})}, {x}, {x}), "meta-wrong-alias");
  EXPECT_EQ(kinds({x.view({3})}, {at::empty({3})}, {x}, {x}), "meta-wrong-alias");
  EXPECT_EQ(kinds({x}, {other}, {x, other}, {x, other}), "meta-wrong-alias");
}

}  // namespace
}  // namespace aotifuzz
