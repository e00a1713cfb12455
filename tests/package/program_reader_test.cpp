#include "package/program_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Program read(const json& document) {
  Result<Program> program = parse_program(document.dump(), "model");
  if (!program) ADD_FAILURE() << program.error().where << ": " << program.error().what;
  return program ? *program : Program{};
}

std::string error_of(const json& document) {
  const Result<Program> program = parse_program(document.dump(), "model");
  return program ? "" : program.error().where + " | " + program.error().what;
}

/// The argument `value` of a node, read back.
Argument argument(const json& value) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["nodes"][0]["inputs"].push_back({{"name", "extra"}, {"arg", value}, {"kind", 2}});
  const Program program = read(p);
  return program.graph.nodes.empty() ? Argument{} : program.graph.nodes[0].inputs.back().value;
}

TEST(ProgramReader, ReadsGraphSignatureAndContractParts) {
  const Program program = read(schema::embedding_program());
  EXPECT_EQ(program.model_name, "model");
  EXPECT_EQ(program.schema_minor, 17);
  EXPECT_EQ(program.torch_version, "2.11.0");
  ASSERT_EQ(program.inputs.size(), 3u);
  EXPECT_EQ(program.inputs[0].kind, GraphInput::Kind::kParameter);
  EXPECT_EQ(program.inputs[0].target, "e.weight");
  EXPECT_EQ(program.inputs[1].kind, GraphInput::Kind::kUser);
  EXPECT_EQ(program.inputs[1].name, "x");
  ASSERT_EQ(program.graph.nodes.size(), 2u);
  EXPECT_EQ(program.graph.nodes[0].target, "torch.ops.aten.embedding.default");
  EXPECT_EQ(program.graph.nodes[0].inputs[1].name, "indices");
  EXPECT_EQ(program.graph.nodes[0].inputs[1].value.name, "i");
  EXPECT_EQ(program.graph.nodes[1].outputs[0].kind, Argument::Kind::kTensor);
  const TensorMeta& x = program.graph.tensors.at("x");
  EXPECT_EQ(x.dtype, Dtype::kF32);
  EXPECT_EQ(x.sizes[1].text(), "s27");
  EXPECT_EQ(x.strides[0].text(), "4*s27");
  EXPECT_EQ(program.range_constraints.at("s58").min, 1);
  EXPECT_EQ(program.range_constraints.at("s27").max, 512);
  EXPECT_EQ(program.guards_code.size(), 2u);
  EXPECT_EQ(program.in_spec, "[1]");
}

TEST(ProgramReader, ReadsEveryKindOfArgument) {
  using Kind = Argument::Kind;
  EXPECT_EQ(argument({{"as_none", true}}).kind, Kind::kNone);
  EXPECT_EQ(argument({{"as_int", -3}}).integer, -3);
  EXPECT_EQ(argument({{"as_float", 0.5}}).real, 0.5);
  EXPECT_EQ(argument({{"as_float", "-Infinity"}}).real, -INFINITY);
  EXPECT_TRUE(argument({{"as_bool", true}}).boolean);
  EXPECT_EQ(argument({{"as_string", "mean"}}).name, "mean");
  EXPECT_EQ(argument({{"as_sym_int", {{"as_name", "s"}}}}).kind, Kind::kSymInt);
  EXPECT_EQ(argument({{"as_sym_int", {{"as_int", 4}}}}).integer, 4);
  EXPECT_EQ(argument({{"as_scalar_type", 7}}).kind, Kind::kScalarType);
  EXPECT_EQ(argument({{"as_memory_format", 1}}).integer, 1);
  EXPECT_EQ(argument({{"as_layout", 7}}).integer, 7);
  EXPECT_EQ(argument({{"as_device", {{"type", "cuda"}, {"index", 0}}}}).name, "cuda:0");
  EXPECT_EQ(argument({{"as_complex", {{"real", 1.0}, {"imag", 2.0}}}}).imag, 2.0);
  EXPECT_EQ(argument({{"as_operator", "aten.add.Tensor"}}).kind, Kind::kOperator);
  EXPECT_EQ(argument({{"as_custom_obj", {{"name", "obj"}, {"class_fqn", "c"}}}}).name, "obj");
  EXPECT_EQ(argument({{"as_optional_tensor", {{"as_none", true}}}}).kind, Kind::kNone);
  EXPECT_EQ(argument({{"as_optional_tensor", {{"as_tensor", {{"name", "x"}}}}}}).name, "x");

  const Argument empty = argument({{"as_ints", json::array()}});
  EXPECT_EQ(empty.kind, Kind::kList);
  EXPECT_EQ(empty.element_kind, Kind::kInt);
  const Argument mixed = argument({{"as_sym_ints", {{{"as_int", 1}}, {{"as_name", "s"}}}}});
  ASSERT_EQ(mixed.items.size(), 2u);
  EXPECT_EQ(mixed.items[0].kind, Kind::kInt);
  EXPECT_EQ(mixed.items[1].kind, Kind::kSymInt);
  const Argument optional =
      argument({{"as_optional_tensors", {{{"as_none", true}}, {{"as_tensor", {{"name", "x"}}}}}}});
  EXPECT_EQ(optional.items[0].kind, Kind::kNone);
  EXPECT_EQ(optional.items[1].name, "x");
  EXPECT_EQ(argument({{"as_int_lists", {{1, 2}, {3}}}}).items[0].items[1].integer, 2);
  EXPECT_EQ(argument({{"as_float_lists", {{1.5}}}}).items[0].items[0].real, 1.5);
  EXPECT_EQ(argument({{"as_nested_tensors", {{{{"name", "x"}}}}}}).items[0].items[0].name, "x");
  const Argument dict = argument({{"as_string_to_argument", {{"k", {{"as_int", 5}}}}}});
  EXPECT_EQ(dict.keys, std::vector<std::string>{"k"});
  EXPECT_EQ(dict.items[0].integer, 5);
}

TEST(ProgramReader, UnknownUnionArmIsAnUnknownArgumentNotAnError) {
  const Argument unknown = argument({{"as_quaternion", {1, 2, 3, 4}}});
  EXPECT_EQ(unknown.kind, Argument::Kind::kUnknown);
  EXPECT_EQ(unknown.name, "as_quaternion");
}

TEST(ProgramReader, KeywordArgumentsAreMarked) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["nodes"][0]["inputs"].push_back({{"name", "k"}, {"arg", {{"as_int", 1}}}, {"kind", 2}});
  const Program program = read(p);
  EXPECT_FALSE(program.graph.nodes[0].inputs[0].keyword);
  EXPECT_TRUE(program.graph.nodes[0].inputs.back().keyword);
}

TEST(ProgramReader, SubGraphsAreRead) {
  const json graph = schema::embedding_program()["graph_module"]["graph"];
  const Argument branch = argument({{"as_graph", {{"name", "true_graph_0"}, {"graph", graph}}}});
  ASSERT_EQ(branch.kind, Argument::Kind::kGraph);
  EXPECT_EQ(branch.name, "true_graph_0");
  EXPECT_EQ(branch.graph->nodes.size(), 2u);
}

TEST(ProgramReader, NodeWithoutANameTakesItsOutputs) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["nodes"][1].erase("name");
  EXPECT_EQ(read(p).graph.nodes[1].name, "add");
}

TEST(ProgramReader, MutationsAndConstantsOfTheSignature) {
  json p = schema::embedding_program();
  json& signature = p["graph_module"]["signature"];
  json& graph = p["graph_module"]["graph"];
  signature["output_specs"].push_back(
      {{"user_input_mutation", {{"arg", {{"name", "add"}}}, {"user_input_name", "x"}}}});
  graph["outputs"].push_back(schema::tensor("add"));
  signature["input_specs"].push_back({{"constant_input", {{"name", "k"}, {"value", {{"as_int", 3}}}}}});
  graph["inputs"].push_back({{"as_int", 3}});
  const Program program = read(p);
  EXPECT_EQ(program.outputs[1].kind, GraphOutput::Kind::kUserInputMutation);
  EXPECT_EQ(program.outputs[1].target, "x");
  EXPECT_EQ(program.inputs[3].kind, GraphInput::Kind::kConstant);
  EXPECT_EQ(program.inputs[3].value.integer, 3);
}

TEST(ProgramReader, OtherSchemaVersionsAreNamed) {
  json p = schema::embedding_program();
  p["schema_version"]["minor"] = 20;
  EXPECT_EQ(error_of(p), "");
  p["schema_version"]["minor"] = 16;
  EXPECT_THAT(error_of(p), HasSubstr("8.16"));
  p["schema_version"] = {{"major", 9}, {"minor", 17}};
  EXPECT_THAT(error_of(p), HasSubstr("9.17"));
}

TEST(ProgramReader, UnknownDtypeCodeIsUnknownNotAnError) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = 99;
  EXPECT_EQ(read(p).graph.tensors.at("x").dtype, Dtype::kUnknown);
}

TEST(ProgramReader, BadExpressionNamesItsPlace) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][1]["as_expr"]["expr_str"] = "Symbol(";
  EXPECT_THAT(error_of(p), HasSubstr("graph_module.graph.tensor_values.x.sizes[1].as_expr.expr_str"));
}

// Replaces each value of the document in turn by one of another type: an error or a program, never anything else.
TEST(ProgramReader, AnyWrongTypeAnywhereIsAnErrorOrHarmless) {
  json document = schema::embedding_program();
  int refused = 0, tried = 0;
  const json others[] = {nullptr, 5, "text", json::array(), json::object(), true, -1.5};
  const std::function<void(json&)> visit = [&](json& value) {
    const json original = value;
    for (const json& other : others) {
      if (other.type() == original.type()) continue;
      value = other;
      ++tried;
      refused += !parse_program(document.dump(), "model");
    }
    value = original;
    if (value.is_structured())
      for (json& child : value) visit(child);
  };
  visit(document);
  EXPECT_GT(tried, 1000);
  EXPECT_GT(refused, tried / 2);
}

TEST(ProgramReader, WeightsNameTheirMembers) {
  const std::string text =
      json{{"config",
            {{"a.b",
              {{"path_name", "weight_3"},
               {"is_param", true},
               {"use_pickle", false},
               {"tensor_meta", schema::meta(13, {schema::size(2)}, {schema::size(1)})}}},
             {"obj",
              {{"path_name", "custom_obj_0"}, {"is_param", false}, {"use_pickle", true}, {"tensor_meta", nullptr}}}}}}
          .dump();
  const Result<std::vector<WeightInfo>> weights = parse_weights_config(text, "m/data/weights/");
  ASSERT_TRUE(weights);
  ASSERT_EQ(weights->size(), 1u);
  EXPECT_EQ((*weights)[0].fqn, "a.b");
  EXPECT_EQ((*weights)[0].member, "m/data/weights/weight_3");
  EXPECT_EQ((*weights)[0].meta.dtype, Dtype::kBF16);
}

TEST(ProgramReader, WeightPathsStayInTheirFolder) {
  const json meta = schema::meta(7, {schema::size(1)}, {schema::size(1)});
  for (const char* path : {"../secret", "/etc/passwd", ""}) {
    const std::string text =
        json{{"config",
              {{"w", {{"path_name", path}, {"is_param", true}, {"use_pickle", false}, {"tensor_meta", meta}}}}}}
            .dump();
    EXPECT_FALSE(parse_weights_config(text, "m/")) << path;
  }
}

}  // namespace
}  // namespace aotifuzz
