#include "package/contract_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "package/program_reader.h"
#include "package/wrapper_reader.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using schema::meta;
using schema::size;
using schema::symbol;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Built {
  Contract contract;
  std::vector<std::string> notes;
};

Built build(const json& document) {
  const Result<Program> program = parse_program(document.dump(), "model");
  Built out;
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what;
    return out;
  }
  out.contract = build_contract(*program, out.notes);
  return out;
}

std::vector<std::string> texts(const Contract& contract) {
  std::vector<std::string> out;
  for (const Condition& condition : contract.conditions) out.push_back(condition.text);
  return out;
}

/// One f32 input of these sizes, dense strides not being the point.
json one_input(const std::vector<json>& sizes) {
  std::vector<json> strides(sizes.size(), size(1));
  return schema::program({{"x", meta(7, sizes, strides)}},
                         {schema::node("torch.ops.aten.sin.default", {{"self", schema::tensor("x")}}, "sin")}, "sin");
}

json range(int64_t min, json max) { return {{"min_val", min}, {"max_val", std::move(max)}}; }

TEST(ContractBuilder, EqualDimensionsAreStatedOnceAndGuardsAddNothing) {
  const Built built = build(schema::embedding_program());
  EXPECT_THAT(texts(built.contract), ElementsAre("x.size(2) == 4", "i.size(0) == x.size(0)", "i.size(1) == x.size(1)",
                                                 "x.size(0) >= 1", "x.size(0) <= 64", "x.size(1) <= 512"));
  EXPECT_THAT(built.notes, IsEmpty());
  ASSERT_EQ(built.contract.inputs.size(), 2u) << "parameters are no inputs";
  EXPECT_EQ(built.contract.inputs[0].name, "x");
  EXPECT_EQ(built.contract.conditions[0].input, 0);
  EXPECT_EQ(built.contract.conditions[1].input, -1);
}

TEST(ContractBuilder, LowerBoundOfTwoIsNoPromiseAndOneIs) {
  const Built built = build(schema::embedding_program());
  ASSERT_EQ(built.contract.symbols.size(), 2u);
  EXPECT_EQ(built.contract.symbols[0].dim, "x.size(0)");
  EXPECT_EQ(built.contract.symbols[0].min, 1);
  EXPECT_EQ(built.contract.symbols[1].min, 0);
  EXPECT_EQ(built.contract.symbols[1].max, 512);
  json p = one_input({size(symbol("s0"))});
  p["range_constraints"] = {{"s0", range(3, nullptr)}};
  EXPECT_THAT(texts(build(p).contract), ElementsAre("x.size(0) >= 3"));
}

TEST(ContractBuilder, LimitOfInt64IsNoLimit) {
  json p = one_input({size(symbol("s0"))});
  p["range_constraints"] = {{"s0", range(0, 9223372036854775806)}};
  const Built built = build(p);
  EXPECT_THAT(texts(built.contract), IsEmpty());
  EXPECT_EQ(built.contract.symbols[0].max, std::nullopt);
}

TEST(ContractBuilder, DerivedDimensionBecomesDivisibility) {
  json p = one_input({size("Mul(Integer(2), " + symbol("s81") + ")")});
  p["range_constraints"] = {{"2*s81", range(2, 200)}, {"s81", range(2, 100)}};
  const Built built = build(p);
  EXPECT_THAT(texts(built.contract), ElementsAre("x.size(0) % 2 == 0", "x.size(0) <= 200"));
  ASSERT_EQ(built.contract.symbols.size(), 1u);
  EXPECT_EQ(built.contract.symbols[0].dim, "");
  EXPECT_EQ(built.contract.symbols[0].max, 100);
}

TEST(ContractBuilder, ShiftedDimensionNeedsNoCondition) {
  const Built built = build(one_input({size("Add(" + symbol("s0") + ", Integer(1))")}));
  EXPECT_THAT(texts(built.contract), IsEmpty());
}

TEST(ContractBuilder, DimensionsThatShareAHiddenSymbolAreRelated) {
  const std::string twice = "Mul(Integer(2), " + symbol("s") + ")";
  const Built built = build(one_input({size(twice), size(twice), size("Add(" + twice + ", Integer(1))")}));
  EXPECT_THAT(texts(built.contract),
              ElementsAre("x.size(0) % 2 == 0", "x.size(1) == x.size(0)", "x.size(2) == 2*(x.size(0) // 2) + 1"));
}

TEST(ContractBuilder, RangesOfRelatedDimensionsAreStatedOnce) {
  json p = schema::program({{"x", meta(7, {size("Add(" + symbol("s17") + ", Integer(1))")}, {size(1)})},
                            {"y", meta(7, {size(symbol("s17"))}, {size(1)})}},
                           {schema::node("torch.ops.aten.sin.default", {{"self", schema::tensor("x")}}, "sin")}, "sin");
  p["range_constraints"] = {{"s17 + 1", range(3, 50)}, {"s17", range(2, 49)}};
  p["guards_code"] = {"((-1) + L['x'].size()[0]) == L['y'].size()[0]"};
  EXPECT_THAT(texts(build(p).contract), ElementsAre("x.size(0) == y.size(0) + 1", "y.size(0) <= 49", "y.size(0) >= 2"));
}

TEST(ContractBuilder, ProductOfSizesFixesADimension) {
  const Built built = build(
      one_input({size(symbol("s0")), size(symbol("s1")), size("Mul(" + symbol("s0") + ", " + symbol("s1") + ")")}));
  EXPECT_THAT(texts(built.contract), ElementsAre("x.size(2) == x.size(0)*x.size(1)"));
}

TEST(ContractBuilder, GuardsKeepWhatSizesAndRangesDoNotSay) {
  json p = one_input({size(symbol("s10"))});
  p["range_constraints"] = {{"s10", range(200, nullptr)}};
  p["guards_code"] = {"(L['x'].size()[0] % 100) == 0",  "100*(L['x'].size()[0] // 100) >= 2",
                      "(L['x'].size()[0] // 100) != 1", "(L['x'].size()[0] // 100) > 1",
                      "L['x'].size()[0] > 5",           "(L['x'].size()[0] % 100) == 0"};
  const Built built = build(p);
  EXPECT_THAT(texts(built.contract), ElementsAre("x.size(0) >= 200", "x.size(0) % 100 == 0"));
  EXPECT_EQ(built.contract.conditions[1].kind, Condition::Kind::kGuard);
}

// ep.module() of torch 2.11 runs every line of guards_code, so a guard that goes back to the 0/1 assumption refuses all
// the same.
TEST(ContractBuilder, GuardsOfTheZeroOneAssumptionAreKept) {
  json p = one_input({size(symbol("s10"))});
  p["range_constraints"] = {{"s10", range(2, nullptr)}};
  p["guards_code"] = {"(-1) + L['x'].size()[0] >= 2"};
  EXPECT_THAT(texts(build(p).contract), ElementsAre("x.size(0) - 1 >= 2"));
  p["range_constraints"] = {{"s10", range(3, nullptr)}};
  EXPECT_THAT(texts(build(p).contract), ElementsAre("x.size(0) >= 3"));
}

TEST(ContractBuilder, AccessPathsFindPlaceholdersByName) {
  json p = schema::program(
      {{"a_0", meta(7, {size(symbol("s0"))}, {size(1)})}, {"d_key", meta(7, {size(symbol("s1"))}, {size(1)})}},
      {schema::node("torch.ops.aten.sin.default", {{"self", schema::tensor("a_0")}}, "sin")}, "sin");
  p["guards_code"] = {"L['a'][0].size()[0] < L['d']['key'].size()[0]", "L['flat_args'][1].size()[0] > 7",
                      "L['nothing'].size()[0] > 7"};
  const Built built = build(p);
  EXPECT_THAT(texts(built.contract), Contains("a_0.size(0) < d_key.size(0)"));
  EXPECT_THAT(texts(built.contract), Contains("d_key.size(0) > 7"));
  ASSERT_EQ(built.notes.size(), 1u);
  EXPECT_EQ(built.notes[0], "guard not checked: L['nothing'].size()[0] > 7");
}

TEST(ContractBuilder, UnreadableGuardsAndRangesAreNotes) {
  json p = one_input({size(symbol("s0"))});
  p["guards_code"] = {"this is no guard"};
  p["range_constraints"] = {{"((", range(3, 4)}};
  const Built built = build(p);
  EXPECT_EQ(built.notes.size(), 2u);
  EXPECT_THAT(texts(built.contract), IsEmpty());
}

TEST(ContractBuilder, OrderDoesNotDependOnSymbolNames) {
  const auto with = [](const char* first, const char* second) {
    json p = one_input({size(symbol(first)), size(symbol(second))});
    p["range_constraints"] = {{first, range(3, 30)}, {second, range(4, 40)}};
    return texts(build(p).contract);
  };
  EXPECT_EQ(with("s1", "s9"), with("s9", "s1"));
}

TEST(ContractBuilder, FreeStrideGetsItsOwnName) {
  json p = schema::program({{"x", meta(7, {size(symbol("s0")), size(symbol("s1"))}, {size(symbol("s56")), size(1)})}},
                           {schema::node("torch.ops.aten.sin.default", {{"self", schema::tensor("x")}}, "sin")}, "sin");
  const Built built = build(p);
  ASSERT_EQ(built.contract.symbols.size(), 3u);
  EXPECT_EQ(built.contract.symbols[2].dim, "x.stride(0)");
}

TEST(ContractBuilder, UnbackedSymbolsAreMarked) {
  json p = one_input({size(symbol("s0"))});
  p["range_constraints"] = {{"u0", range(0, 9223372036854775806)}};
  const Built built = build(p);
  ASSERT_EQ(built.contract.symbols.size(), 2u);
  EXPECT_EQ(built.contract.symbols[1].name, "u0");
  EXPECT_TRUE(built.contract.symbols[1].unbacked);
  EXPECT_THAT(texts(built.contract), IsEmpty());
}

TEST(ContractBuilder, ScalarsAreConstantsOrSymbols) {
  json p = one_input({size(symbol("s0"))});
  json& graph = p["graph_module"]["graph"];
  json& specs = p["graph_module"]["signature"]["input_specs"];
  graph["inputs"].push_back({{"as_sym_int", {{"as_name", "n"}}}});
  graph["sym_int_values"]["n"] = size(symbol("s7"));
  specs.push_back({{"user_input", {{"arg", {{"as_sym_int", {{"as_name", "n"}}}}}}}});
  graph["inputs"].push_back({{"as_float", 0.5}});
  specs.push_back({{"constant_input", {{"name", "f"}, {"value", {{"as_float", 0.5}}}}}});
  graph["inputs"].push_back({{"as_none", true}});
  specs.push_back({{"constant_input", {{"name", "nothing"}, {"value", {{"as_none", true}}}}}});
  p["range_constraints"] = {{"s7", range(3, 9)}};
  const Built built = build(p);
  ASSERT_EQ(built.contract.inputs.size(), 4u);
  EXPECT_EQ(built.contract.inputs[1].kind, CaseInput::Kind::kInt);
  EXPECT_FALSE(built.contract.inputs[1].is_constant);
  EXPECT_EQ(built.contract.inputs[2].kind, CaseInput::Kind::kFloat);
  EXPECT_TRUE(built.contract.inputs[2].is_constant);
  EXPECT_EQ(std::get<double>(built.contract.inputs[2].constant), 0.5);
  EXPECT_EQ(built.contract.inputs[3].kind, CaseInput::Kind::kNone);
  EXPECT_THAT(texts(built.contract), ElementsAre("n >= 3", "n <= 9"));
}

TEST(ContractBuilder, RolesAndMutationReachTheInputs) {
  json p = schema::embedding_program();
  p["graph_module"]["graph"]["nodes"].push_back(
      schema::node("torch.ops.aten.mul_.Tensor", {{"self", schema::tensor("x")}, {"other", {{"as_int", 2}}}}, "mul_"));
  const Built built = build(p);
  EXPECT_TRUE(built.contract.inputs[0].mutated);
  EXPECT_FALSE(built.contract.inputs[1].mutated);
  EXPECT_EQ(built.contract.inputs[1].role.kind, ValueRole::Kind::kIndex);
  EXPECT_EQ(built.contract.inputs[1].role.bound, Expr::integer(10));
}

TEST(ContractBuilder, WithoutAProgramTheCompiledChecksDecide) {
  CompiledModel model;
  read_wrapper(embedding_wrapper(), model);
  const Contract contract = build_contract(model);
  EXPECT_FALSE(contract.declared);
  ASSERT_EQ(contract.inputs.size(), 2u);
  EXPECT_EQ(contract.inputs[0].name, "arg1_1");
  EXPECT_EQ(contract.inputs[0].dtype, Dtype::kF32);
  EXPECT_EQ(contract.inputs[1].dtype, Dtype::kI64);
  EXPECT_THAT(texts(contract), UnorderedElementsAre("arg1_1.size(0) <= 64", "arg1_1.size(2) == 4"));
  Case c;
  c.inputs.resize(2);
  c.inputs[0].name = "arg1_1";
  c.inputs[0].sizes = {3, 5, 4};
  c.inputs[1].name = "arg2_1";
  c.inputs[1].dtype = Dtype::kI64;
  c.inputs[1].sizes = {3};
  EXPECT_THAT(violations(contract, c), IsEmpty());
  c.inputs[0].sizes = {65, 5, 4};
  EXPECT_EQ(violations(contract, c).size(), 1u);
}

}  // namespace
}  // namespace aotifuzz
