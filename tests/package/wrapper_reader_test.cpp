#include "package/wrapper_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;

CompiledModel read(std::string_view text) {
  CompiledModel model;
  read_wrapper(text, model);
  return model;
}

std::vector<std::string> texts(const CompiledModel& model) {
  std::vector<std::string> out;
  for (const InputCheck& check : model.checks) out.push_back(check.text);
  return out;
}

TEST(WrapperReader, ReadsNamesConstantsAndChecks) {
  const CompiledModel model = read(embedding_wrapper());
  EXPECT_THAT(model.input_names, ElementsAre("arg1_1", "arg2_1"));
  EXPECT_THAT(model.output_names, ElementsAre("output0"));
  ASSERT_EQ(model.constants.size(), 1u);
  EXPECT_EQ(model.constants[0].fqn, "e.weight");
  EXPECT_EQ(model.constants[0].dtype, Dtype::kF32);
  EXPECT_THAT(model.constants[0].sizes, ElementsAre(10, 4));
  EXPECT_EQ(model.constants[0].bytes, 192);
  // The upper bound of 2**63 - 2 says nothing and is left out.
  EXPECT_THAT(texts(model), ElementsAre("arg1_1.dtype == f32", "arg1_1.size(0) >= 2", "arg1_1.size(0) <= 64",
                                        "arg1_1.size(2) == 4", "arg1_1.stride(2) == 1", "arg1_1.device == cpu",
                                        "arg2_1.dtype == i64", "arg2_1.size(0) >= 2"));
  EXPECT_EQ(model.checks[7].input, 1);
  EXPECT_EQ(model.checks[7].kind, InputCheck::Kind::kMinSize);
}

TEST(WrapperReader, ReadsSymbolsAndCountsCalls) {
  const CompiledModel model = read(embedding_wrapper());
  EXPECT_EQ(model.symbol_dims.at("s58"), "arg1_1.size(0)");
  EXPECT_EQ(model.symbol_dims.at("s56"), "arg1_1.stride(0)");
  ASSERT_EQ(model.kernels.size(), 2u);
  EXPECT_EQ(model.kernels[0].name, "cpp_fused_add_embedding_0");
  EXPECT_EQ(model.kernels[0].calls, 1);
  EXPECT_FALSE(model.kernels[0].is_extern);
  EXPECT_EQ(model.kernels[1].name, "aoti_torch_cpu_mm_out");
  EXPECT_EQ(model.kernels[1].calls, 2);
  EXPECT_TRUE(model.kernels[1].is_extern);
}

TEST(WrapperReader, AcceptsWhatLaterVersionsAdd) {
  const CompiledModel model = read(R"(
    inputs_info_[0].name = "arg5_1";
void AOTInductorModel::run_impl(
    int64_t s77 = arg5_1_size[0];
    int64_t s95 = s77;
    int64_t s96 = s1234;
    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(arg5_1, {s77, 4L}, {4L, 1L}, "input"); }
    call_triton_poi_fused_add_0(arg5_1, buf0, s77, stream, kernels, this->cubin_dir_);
    launchKernel(kernels.triton_red_fused_1, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream, false);
} // AOTInductorModel::run_impl
)");
  EXPECT_EQ(model.symbol_dims.at("s95"), "arg5_1.size(0)");
  EXPECT_FALSE(model.symbol_dims.contains("s96"));
  ASSERT_EQ(model.checks.size(), 1u);
  EXPECT_EQ(model.checks[0].kind, InputCheck::Kind::kLayer2);
  EXPECT_EQ(model.checks[0].text, "assert_size_stride {s77, 4L}, {4L, 1L}");
  ASSERT_EQ(model.assumed_sizes.size(), 2u);
  EXPECT_EQ(model.assumed_sizes[0].symbol, "s77");
  EXPECT_EQ(model.assumed_sizes[1].dim, 1);
  EXPECT_EQ(model.assumed_sizes[1].value, 4);
  ASSERT_EQ(model.kernels.size(), 2u);
  EXPECT_EQ(model.kernels[0].name, "triton_poi_fused_add_0");
  EXPECT_EQ(model.kernels[1].name, "triton_red_fused_1");
}

TEST(WrapperReader, HostileTextCostsLittleAndBreaksNothing) {
  const CompiledModel model = read(R"(
    inputs_info_[999999999].name = "a";
    inputs_info_[-1].name = "b";
    inputs_info_[99999999999999999999].name = "c";
    constants_info_[0].shape = {1, 2,
    constants_info_[1000000].name = "d";
    inputs_info_[
AOTI_NOINLINE static void check_input_99999999(
    if (a_size[0] < 2) {
AOTI_NOINLINE static void check_input_0(
    if (a_size[99999999] < 2) {
    if (a_size[-1] < 2) {
    if (99999999999999999999 != a_size[0]) {
    if (a_size[0] < x) {
    if (
)");
  EXPECT_TRUE(model.input_names.empty());
  EXPECT_TRUE(model.checks.empty());
  ASSERT_EQ(model.constants.size(), 1u);
  EXPECT_THAT(model.constants[0].sizes, ElementsAre(1, 2));
  EXPECT_TRUE(read("").kernels.empty());
  EXPECT_TRUE(read(std::string(1 << 20, '(')).kernels.empty());
}

TEST(WrapperReader, MetadataAndKernelOrigins) {
  CompiledModel model = read(embedding_wrapper());
  ASSERT_TRUE(read_compiled_metadata(R"({"AOTI_DEVICE_KEY": "cuda", "AOTI_COMPUTE_CAPABILITY": "90"})", "meta", model));
  EXPECT_EQ(model.device, "cuda");
  EXPECT_EQ(model.compute_capability, "90");
  EXPECT_FALSE(read_compiled_metadata(R"({"AOTI_DEVICE_KEY": 5})", "meta", model));
  const char* information =
      R"({"cpp_fused_add_embedding_0:1": {"post_grad_nodes": ["add_4"], "pre_grad_nodes": ["add"], "extern_semantic_key": null},
                                "cpp_fused_add_embedding_0:7": {"post_grad_nodes": ["add_4", "mul"]}, "unknown:2": {}})";
  ASSERT_TRUE(read_kernel_information(information, "info", model));
  EXPECT_THAT(model.kernels[0].post_grad_nodes, ElementsAre("add_4", "mul"));
  EXPECT_THAT(model.kernels[0].pre_grad_nodes, ElementsAre("add"));
  EXPECT_FALSE(read_kernel_information("[]", "info", model));
}

}  // namespace
}  // namespace aotifuzz
