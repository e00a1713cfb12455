#include "package/index_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "package/kernel_flow.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// In the form of torch 2.11.0 for CUDA, without kernel map and program, shortened. `index` is how tmp0 becomes tmp4.
std::string wrapper(const std::string& index, const std::string& more_calls = "") {
  return R"(/*
async_compile.triton('triton_poi_fused_count_0', '''
@triton.jit
def triton_poi_fused_count_0(in_ptr0, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_ptr0 + (x1), xmask)
    tl.store(out_ptr0 + (x1), tmp0, xmask)
''', device_str='cuda')
async_compile.triton('triton_poi_fused_take_1', '''
@triton.jit
def triton_poi_fused_take_1(in_ptr0, in_ptr1, out_ptr0, ks0, xnumel, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy='evict_last')
)" + index +
         R"(    tl.device_assert(((0 <= tmp4) & (tmp4 < ks0)) | ~(xmask), "index out of bounds: 0 <= tmp4 < ks0")
    tmp6 = tl.load(in_ptr1 + (x0 + 16*tmp4), xmask)
    tl.store(out_ptr0 + (x2), tmp6, xmask)
''', device_str='cuda')
*/
    inputs_info_[0].name = "arg0_1";
    inputs_info_[1].name = "arg1_1";
    constants_info_[0].name = "table_weight";
    constants_info_[0].original_fqn = "table.weight";
void AOTInductorModel::run_impl(
    AtenTensorHandle* input_handles
) {
    auto arg0_1_size = arg0_1.sizes();
    int64_t s5 = arg0_1_size[1];
    call_triton_poi_fused_count_0(arg0_1, buf0, s5, 100L, stream, kernels, this->cubin_dir_);
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cuda_sort(buf0, 1, &buf1_handle, &buf2_handle));
    call_triton_poi_fused_take_1(buf1, table_weight, buf3, s5, 100L, stream, kernels, this->cubin_dir_);
)" + more_calls +
         "} // AOTInductorModel::run_impl\n";
}

constexpr const char* kWrapped =
    "    tmp1 = ks0\n    tmp2 = tmp0 + tmp1\n    tmp3 = tmp0 < 0\n    tmp4 = tl.where(tmp3, tmp2, tmp0)\n";

class IndexContext : public ::testing::Test {
 protected:
  const PackageInfo& package(const std::string& text) {
    write_zip(file_.path(),
              {{"p/data/aotinductor/model/a.wrapper.cpp", text}, {"p/data/aotinductor/model/a.wrapper.so", "x"}});
    info_ = read_package({.path = file_.path()});
    return info_;
  }
  Explanation explain(const std::string& text) {
    const std::vector<RecognisedError> errors =
        recognise_errors("x: block: [0,0,0], thread: [3,0,0] Assertion `index out of bounds: 0 <= tmp4 < ks0` failed.");
    Explanation out;
    out.culprit = errors.at(0).pattern->culprit;
    add_index_facts(package(text), errors.at(0), &out);
    return out;
  }
  static std::string fact(const Explanation& one, const std::string& name) {
    for (const auto& [key, value] : one.facts)
      if (key == name) return value;
    return "";
  }
  TemporaryFile file_{"p.pt2"};
  PackageInfo info_;
};

TEST_F(IndexContext, TritonsIndexIsFollowedThroughAnOperatorToTheInput) {
  const Explanation one = explain(wrapper(kWrapped));
  EXPECT_EQ(fact(one, "kernel"), "triton_poi_fused_take_1");
  EXPECT_EQ(fact(one, "ks0"), "arg0_1.size(1)");
  EXPECT_THAT(fact(one, "guards the load"), HasSubstr("in_ptr1 = weight table.weight"));
  EXPECT_THAT(
      fact(one, "upstream"),
      HasSubstr("buf1 <- aoti_torch_cuda_sort (call 2) <- buf0 <- triton_poi_fused_count_0 (call 1) <- input arg0_1"));
  EXPECT_THAT(one.culprit, HasSubstr("computed from input arg0_1, in aoti_torch_cuda_sort (call 2)"));
}

TEST_F(IndexContext, AnInputsValueIsOneOnlyWhereNothingIsComputedOfIt) {
  std::string direct = wrapper(kWrapped);
  direct.replace(direct.find("take_1(buf1"), 11, "take_1(arg1_1");
  EXPECT_THAT(explain(direct).culprit, HasSubstr("the values of input arg1_1"));
  std::string computed = wrapper("    tmp4 = tmp0 * 2\n");
  computed.replace(computed.find("take_1(buf1"), 11, "take_1(arg1_1");
  EXPECT_THAT(explain(computed).culprit, HasSubstr("computed from input arg1_1"));
  std::string moved = wrapper("    tmp4 = tmp0 + 3\n");
  moved.replace(moved.find("take_1(buf1"), 11, "take_1(arg1_1");
  EXPECT_THAT(explain(moved).culprit, HasSubstr("computed from input arg1_1"));
}

TEST_F(IndexContext, AKernelThatIsCalledTwiceBlamesNoInput) {
  const Explanation one = explain(
      wrapper(kWrapped, "    call_triton_poi_fused_take_1(arg1_1, table_weight, buf4, s5, 100L, stream, kernels);\n"));
  EXPECT_THAT(fact(one, "called"), HasSubstr("2 times"));
  EXPECT_THAT(one.culprit, HasSubstr("whoever makes the index"));
}

TEST_F(IndexContext, FlowNamesMakersAndInputs) {
  const PackageInfo& info = package(wrapper(kWrapped));
  const KernelFlow flow(info, kernel_texts(info));
  ASSERT_EQ(flow.calls().size(), 3u);
  EXPECT_EQ(flow.find("nobody"), std::nullopt);
  EXPECT_EQ(flow.maker(2, "in_ptr0"), 1u);
  EXPECT_EQ(flow.maker(2, "in_ptr1"), std::nullopt);
  EXPECT_THAT(flow.inputs_of(2, "in_ptr0"), ElementsAre("arg0_1"));
  EXPECT_THAT(flow.upstream(0, "in_ptr0"), IsEmpty());
  EXPECT_EQ(flow.given(0, "ks0"), "arg0_1.size(1)");
}

}  // namespace
}  // namespace aotifuzz
