#pragma once

#include <zip.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace aotifuzz {

using Members = std::vector<std::pair<std::string, std::string>>;  // name, bytes

/// A file in a folder of its own that disappears with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name) {
    std::string pattern = (std::filesystem::temp_directory_path() / "aotifuzz-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = pattern;
    path_ = folder_ / name;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path folder_, path_;
};

inline void write_zip(const std::string& path, const Members& members, bool compress = false) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) throw std::runtime_error("zip_open failed");
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) throw std::runtime_error("zip_file_add failed");
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error("zip_close failed");
}

/// JSON of the export schema, in the shapes that torch 2.11 writes.
namespace schema {

using nlohmann::json;

inline json size(int64_t value) { return {{"as_int", value}}; }
inline json size(const std::string& srepr) { return {{"as_expr", {{"expr_str", srepr}, {"hint", {{"as_int", 7}}}}}}; }
inline std::string symbol(const std::string& name) { return "Symbol('" + name + "', positive=True, integer=True)"; }

inline json tensor(const std::string& name) { return {{"as_tensor", {{"name", name}}}}; }

inline json meta(int dtype, std::vector<json> sizes, std::vector<json> strides) {
  return {{"dtype", dtype},
          {"sizes", sizes},
          {"requires_grad", false},
          {"device", {{"type", "cpu"}, {"index", nullptr}}},
          {"strides", strides},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", 7}};
}

inline json node(const std::string& target, const std::vector<std::pair<std::string, json>>& inputs,
                 const std::string& output) {
  json arguments = json::array();
  for (const auto& [name, value] : inputs) arguments.push_back({{"name", name}, {"arg", value}, {"kind", 1}});
  json outputs = json::array();
  if (!output.empty()) outputs.push_back(tensor(output));
  return {{"target", target},
          {"inputs", arguments},
          {"outputs", outputs},
          {"metadata", json::object()},
          {"is_hop_single_tensor_return", nullptr},
          {"name", output}};
}

/// A program with tensor inputs only; the first output is the last node's.
inline json program(const std::vector<std::pair<std::string, json>>& inputs, const std::vector<json>& nodes,
                    const std::string& output) {
  json graph = {{"inputs", json::array()},
                {"outputs", json::array({tensor(output)})},
                {"nodes", nodes},
                {"tensor_values", json::object()},
                {"sym_int_values", json::object()},
                {"sym_bool_values", json::object()},
                {"sym_float_values", json::object()},
                {"custom_obj_values", json::object()},
                {"is_single_tensor_return", false}};
  json specs = json::array();
  for (const auto& [name, value] : inputs) {
    graph["inputs"].push_back(tensor(name));
    graph["tensor_values"][name] = value;
    specs.push_back({{"user_input", {{"arg", tensor(name)}}}});
  }
  return {
      {"graph_module",
       {{"graph", graph},
        {"signature",
         {{"input_specs", specs}, {"output_specs", json::array({json{{"user_output", {{"arg", tensor(output)}}}}})}}},
        {"module_call_graph", json::array({json{{"fqn", ""},
                                                {"signature",
                                                 {{"inputs", json::array()},
                                                  {"outputs", json::array()},
                                                  {"in_spec", "[1]"},
                                                  {"out_spec", "[1]"},
                                                  {"forward_arg_names", json::array()}}}}})},
        {"metadata", json::object()}}},
      {"opset_version", {{"aten", 10}}},
      {"range_constraints", json::object()},
      {"schema_version", {{"major", 8}, {"minor", 17}}},
      {"verifiers", json::array({"TRAINING"})},
      {"torch_version", "2.11.0"},
      {"guards_code", json::array()}};
}

/// x f32[B, T, 4], i i64[B, T]: embedding-like use of i.
inline json embedding_program() {
  const json b = size(symbol("s58")), t = size(symbol("s27"));
  json p = program(
      {{"w", meta(7, {size(10), size(4)}, {size(4), size(1)})},
       {"x", meta(7, {b, t, size(4)}, {size("Mul(Integer(4), " + symbol("s27") + ")"), size(4), size(1)})},
       {"i", meta(5, {b, t}, {t, size(1)})}},
      {node("torch.ops.aten.embedding.default", {{"weight", tensor("w")}, {"indices", tensor("i")}}, "embedding"),
       node("torch.ops.aten.add.Tensor", {{"self", tensor("embedding")}, {"other", tensor("x")}}, "add")},
      "add");
  p["graph_module"]["signature"]["input_specs"][0] = {
      {"parameter", {{"arg", {{"name", "w"}}}, {"parameter_name", "e.weight"}}}};
  p["range_constraints"] = {{"s58", {{"min_val", 1}, {"max_val", 64}}}, {"s27", {{"min_val", 2}, {"max_val", 512}}}};
  p["guards_code"] = {"L['i'].size()[1] == L['x'].size()[1]", "L['i'].size()[0] == L['x'].size()[0]"};
  return p;
}

}  // namespace schema

/// wrapper.cpp of that program as torch 2.11 generates it, cut to the lines that matter.
inline const char* embedding_wrapper() {
  return R"(AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map,
                                   std::optional<std::string> cubin_dir)
    : AOTInductorModelBase(2, 1, 1, device_str, std::move(cubin_dir), true) {
    inputs_info_[0].name = "arg1_1";
    inputs_info_[1].name = "arg2_1";
    constants_info_[0].name = "e_weight";
    constants_info_[0].dtype = cached_torch_dtype_float32;
    constants_info_[0].data_size = 192;
    constants_info_[0].shape = {10, 4};
    constants_info_[0].original_fqn = "e.weight";
    outputs_info_[0].name = "output0";
}
AOTI_NOINLINE static void check_input_0(
    AtenTensorHandle* input_handles
) {
    int32_t arg1_1_expected_dtype = aoti_torch_dtype_float32();
    if (arg1_1_expected_dtype != arg1_1_dtype) {
    auto arg1_1_size = arg1_1.sizes();
    if (arg1_1_size[0] < 2) {
        ss << "input_handles[0]: dim value is too small at 0, "
    }
    if (arg1_1_size[0] > 64) {
    }
    if (arg1_1_size[1] > 9223372036854775806L) {
    }
    if (4 != arg1_1_size[2]) {
    }
    if (1 != arg1_1_stride[2]) {
    }
    int32_t arg1_1_expected_device_type = 0;
}
AOTI_NOINLINE static void check_input_1(
    AtenTensorHandle* input_handles
) {
    int32_t arg2_1_expected_dtype = aoti_torch_dtype_int64();
    if (arg2_1_size[0] < 2) {
    }
}
void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles
) {
    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 2);
    auto arg1_1 = std::move(inputs[0]);
    auto arg1_1_size = arg1_1.sizes();
    int64_t s58 = arg1_1_size[0];
    int64_t s27 = arg1_1_size[1];
    int64_t s56 = arg1_1_stride[0];
    const int64_t int_array_0[] = {s58, s27, 4L};
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(3, int_array_0, int_array_1, cached_torch_dtype_float32, &buf0_handle));
    // [Provenance debug handles] cpp_fused_add_embedding_0:1
    cpp_fused_add_embedding_0((const int64_t*)(arg2_1.data_ptr()), (float*)(buf0.data_ptr()), s27, s58);
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf2, buf0, buf1));
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf3, buf0, buf1));
    arg1_1.reset();
    output_handles[0] = buf0.release();
} // AOTInductorModel::run_impl
)";
}

/// Members of a package of the embedding program: reference and compiled model.
inline Members embedding_package(const std::string& root = "m/") {
  const std::string compiled = root + "data/aotinductor/model/";
  const std::string weights = nlohmann::json{{"config",
                                              {{"e.weight",
                                                {{"path_name", "weight_0"},
                                                 {"is_param", true},
                                                 {"use_pickle", false},
                                                 {"tensor_meta", schema::meta(7, {schema::size(10), schema::size(4)},
                                                                              {schema::size(4), schema::size(1)})}}}}}}
                                  .dump();
  return {
      {root + "archive_format", "pt2"},
      {root + "models/model.json", schema::embedding_program().dump()},
      {root + "data/weights/model_weights_config.json", weights},
      {root + "data/weights/weight_0", std::string(160, '\0')},
      {root + "data/constants/model_constants_config.json", R"({"config": {}})"},
      {compiled + "abc.wrapper.so", "ELF"},
      {compiled + "abc.wrapper.cpp", embedding_wrapper()},
      {compiled + "abc.kernel.cpp", "void cpp_fused_add_embedding_0() {}"},
      {compiled + "abc.wrapper_metadata.json",
       R"({"AOTI_DEVICE_KEY": "cpu", "AOTI_CPU_ISA": "AVX512", "AOTI_COMPUTE_CAPABILITY": ""})"},
      {compiled + "kernel_information.json",
       R"({"cpp_fused_add_embedding_0:1": {"stack_traces": [], "post_grad_nodes": ["add_4", "embedding"], "pre_grad_nodes": ["add"],
               "extern_semantic_key": null}})"}};
}

}  // namespace aotifuzz
