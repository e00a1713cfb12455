#include "worker/materialize.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

namespace aotifuzz {
namespace {

CaseInput ramp(const std::string& name, std::vector<int64_t> sizes, Dtype dtype = Dtype::kF32) {
  CaseInput input;
  input.name = name;
  input.dtype = dtype;
  input.sizes = std::move(sizes);
  input.values.kind = ValueKind::kRamp;
  input.values.numbers = {Number{int64_t{0}}, Number{int64_t{1}}};
  return input;
}

Case of(std::vector<CaseInput> inputs) {
  Case c;
  c.inputs = std::move(inputs);
  return c;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.nbytes() == y.nbytes() && std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

at::Tensor expected_ramp(std::vector<int64_t> sizes) {
  return at::arange(c10::multiply_integers(sizes), at::kFloat).reshape(sizes);
}

TEST(CaseInputs, DenseTensorsHoldTheRecipeInOrder) {
  const Case c = of({ramp("x", {2, 3}), ramp("n", {4}, Dtype::kI64)});
  const CaseInputs inputs(c);
  EXPECT_TRUE(same_bits(inputs.pristine()[0], expected_ramp({2, 3})));
  EXPECT_EQ(inputs.pristine()[1].scalar_type(), at::kLong);
  EXPECT_EQ(inputs.pristine()[1][3].item<int64_t>(), 3);
}

TEST(CaseInputs, StridesAndOffsetAreKeptAndValuesFollowLogicalOrder) {
  CaseInput x = ramp("x", {3, 4});
  x.strides = std::vector<int64_t>{1, 5};
  x.offset = 7;
  const Case c = of({x});
  const CaseInputs inputs(c);
  const at::Tensor t = inputs.pristine()[0];
  EXPECT_EQ(t.strides(), (c10::IntArrayRef{1, 5}));
  EXPECT_EQ(t.storage_offset(), 7);
  EXPECT_EQ(static_cast<int64_t>(t.storage().nbytes()), x.storage_elements() * 4);
  EXPECT_TRUE(same_bits(t, expected_ramp({3, 4})));
}

TEST(CaseInputs, OverlappingElementsKeepTheLastValue) {
  CaseInput x = ramp("x", {3, 2});
  x.strides = std::vector<int64_t>{0, 1};
  const Case c = of({x});
  const CaseInputs inputs(c);
  EXPECT_EQ(inputs.pristine()[0][0][0].item<float>(), 4);
  EXPECT_EQ(inputs.pristine()[0][2][1].item<float>(), 5);
  EXPECT_EQ(inputs.pristine()[0].storage().nbytes(), 8u);
}

TEST(CaseInputs, GapsHoldValuesOfTheRecipe) {
  CaseInput x = ramp("x", {2, 2}, Dtype::kI64);
  x.values.kind = ValueKind::kInts;
  x.values.numbers = {Number{int64_t{5}}, Number{int64_t{9}}};
  x.strides = std::vector<int64_t>{6, 1};
  const Case c = of({x});
  const CaseInputs inputs(c);
  const auto* data = static_cast<const int64_t*>(inputs.pristine()[0].storage().data());
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(data[i] >= 5 && data[i] <= 9) << i;
}

TEST(CaseInputs, ViewsShareTheStorageInEveryCopyAndReachPastTheBase) {
  CaseInput y;
  y.name = "y";
  y.sizes = {4};
  y.storage_of = "x";
  y.offset = 2;
  const Case c = of({ramp("x", {4}), y});
  const CaseInputs inputs(c);
  EXPECT_EQ(inputs.pristine()[1][1].item<float>(), 3);
  const std::vector<at::Tensor> copy = inputs.copies();
  copy[0][2] = 77;
  EXPECT_EQ(copy[1][0].item<float>(), 77);
  EXPECT_EQ(copy[0].storage().nbytes(), 24u);
  EXPECT_EQ(inputs.pristine()[0][2].item<float>(), 2) << "a run's writes must not reach the pristine values";
}

TEST(CaseInputs, CopiesHaveTheSameBitsAndLayoutInOtherMemory) {
  CaseInput x = ramp("x", {3, 4});
  x.strides = std::vector<int64_t>{9, 2};
  const Case c = of({x});
  const CaseInputs inputs(c);
  const at::Tensor a = inputs.copies()[0], b = inputs.copies()[0];
  EXPECT_NE(a.storage().data(), inputs.pristine()[0].storage().data());
  EXPECT_EQ(a.strides(), b.strides());
  EXPECT_EQ(std::memcmp(a.storage().data(), inputs.pristine()[0].storage().data(), a.storage().nbytes()), 0)
      << "gaps are copied too";
}

TEST(CaseInputs, MisalignedStoragesStartWhereTheCaseSays) {
  for (int64_t misalign : {1, 4, 16, 63, 64}) {
    CaseInput x = ramp("x", {33}, Dtype::kU8);
    x.misalign_bytes = misalign;
    const Case c = of({x});
    const CaseInputs inputs(c);
    for (const at::Tensor& t : {inputs.pristine()[0], inputs.copies()[0]}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(t.storage().data()) % 64, static_cast<uintptr_t>(misalign % 64));
      EXPECT_EQ(t[32].item<uint8_t>(), 32);
    }
  }
}

TEST(CaseInputs, EmptyScalarAndZeroTensorsWork) {
  CaseInput empty = ramp("e", {0, 3});
  CaseInput number;
  number.name = "n";
  number.kind = CaseInput::Kind::kInt;
  CaseInput zero = ramp("z", {3});
  zero.zero_tensor = true;
  const Case c = of({empty, number, zero});
  const CaseInputs inputs(c);
  const std::vector<at::Tensor> copy = inputs.copies();
  EXPECT_EQ(copy[0].sizes(), (c10::IntArrayRef{0, 3}));
  EXPECT_FALSE(copy[1].defined());
  EXPECT_TRUE(copy[2]._is_zerotensor());
}

TEST(CaseInputs, AViewOfWhatHasNoStorageIsAnError) {
  CaseInput zero = ramp("z", {3});
  zero.zero_tensor = true;
  CaseInput view = ramp("v", {3});
  view.storage_of = "z";
  const Case c = of({zero, view});
  EXPECT_THROW(CaseInputs{c}, std::invalid_argument);
}

}  // namespace
}  // namespace aotifuzz
