#include "package/kernel_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "package/kernel_slice.h"
#include "tests/package/package_builder.h"
#include "tests/support/kernel_maps.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json label(const std::string& value, const json& rule = nullptr) {
  json out = {{"value", value}, {"size", {schema::symbol("s0"), 4}}, {"stride", {4, 1}}, {"offset", 0}};
  if (!rule.is_null()) out["rule"] = rule;
  return out;
}

/// y = x + w, by one kernel.
json document() {
  const json meta =
      schema::meta(7, {schema::size(schema::symbol("s0")), schema::size(4)}, {schema::size(4), schema::size(1)});
  const json graph = {{"inputs", {schema::tensor("x"), schema::tensor("w")}},
                      {"outputs", {schema::tensor("y")}},
                      {"nodes",
                       {{{"target", "torch.ops.aten.add.Tensor"},
                         {"inputs",
                          {{{"name", "self"}, {"arg", schema::tensor("x")}, {"kind", 1}},
                           {{"name", "other"}, {"arg", schema::tensor("w")}, {"kind", 1}}}},
                         {"outputs", {schema::tensor("y")}},
                         {"name", "y"},
                         {"metadata", json::object()}}}},
                      {"tensor_values", {{"x", meta}, {"w", meta}, {"y", meta}}},
                      {"sym_int_values", json::object()}};
  return {{"schema", 1},
          {"torch_version", "2.11.0"},
          {"graph", graph},
          {"inputs",
           {{{"value", "x"}, {"kind", "user"}, {"index", 0}},
            {{"value", "w"}, {"kind", "constant"}, {"name", "w"}, {"fqn", "layer.weight"}}}},
          {"symbols", {{"s0", {{"input", 0}, {"dim", 1}}}}},
          {"multiples", {{"s1", {{"input", 0}, {"dim", 0}, {"by", 2}}}}},
          {"notes", {"a note"}},
          {"calls",
           {{{"kernel", "cpp_fused_add_0"},
             {"kind", "cpp"},
             {"nodes", {"y"}},
             {"arguments",
              {{{"at", 0},
                {"name", "in_ptr0"},
                {"role", "in"},
                {"buffer", "x"},
                {"dtype", "float32"},
                {"entry", {label("x")}}},
               {{"at", 1},
                {"name", "out_ptr0"},
                {"role", "out"},
                {"buffer", "buf0"},
                {"dtype", "float32"},
                {"exit", {label("y", {{"kind", "divide"}, {"by", schema::symbol("s0")}})}}},
               {{"at", 2}, {"name", "ks0"}, {"role", "size"}, {"expression", schema::symbol("s0")}}}},
             {"judged", true},
             {"why_not", ""}}}}};
}

TEST(KernelMap, IsReadAsItWasWritten) {
  const Result<KernelMap> map = parse_kernel_map(document().dump());
  ASSERT_TRUE(map) << map.error().what << " " << map.error().where;
  ASSERT_EQ(map->calls.size(), 1u);
  const MappedCall& call = map->calls[0];
  EXPECT_EQ(call.kernel, "cpp_fused_add_0");
  EXPECT_EQ(call.kind, MappedCall::Kind::kCpp);
  ASSERT_EQ(call.arguments.size(), 3u);
  EXPECT_EQ(call.arguments[0].entry[0].value, "x");
  EXPECT_EQ(call.arguments[1].exit[0].rule, KernelLabel::Rule::kDivide);
  EXPECT_EQ(call.arguments[1].exit[0].by.text(), "s0");
  EXPECT_EQ(call.arguments[2].role, KernelArgument::Role::kSize);
  EXPECT_EQ(map->symbols.at("s0").dim, 1);
  EXPECT_EQ(map->symbols.at("s1").by, 2);
  EXPECT_EQ(map->find_input("w")->fqn, "layer.weight");
  EXPECT_THAT(map->notes, ElementsAre("a note"));
}

TEST(KernelMap, WhatCannotBeMeantIsAnErrorThatNamesThePlace) {
  const auto refuses = [](const std::string& path, const json& value, const std::string& words) {
    json changed = document();
    changed[json::json_pointer(path)] = value;
    const Result<KernelMap> map = parse_kernel_map(changed.dump());
    ASSERT_FALSE(map) << path;
    EXPECT_THAT(map.error().what, HasSubstr(words)) << path;
    EXPECT_THAT(map.error().where, HasSubstr("extra/kernel_map.json")) << path;
  };
  refuses("/schema", 2, "schema 2");
  refuses("/calls/0/kind", "odd", "unknown word 'odd'");
  refuses("/calls/0/arguments/0/role", "odd", "unknown word 'odd'");
  refuses("/calls/0/arguments/0/at", -1, "position");
  refuses("/calls/0/arguments/0/entry/0/value", "nobody", "no tensor nobody");
  refuses("/calls/0/arguments/0/entry/0/stride", json::array(), "differ in length");
  refuses("/calls/0/arguments/1/exit/0/rule/kind", "odd", "unknown rule");
  refuses("/inputs", json::array(), "another number of inputs");
  refuses("/multiples/s1/by", 0, "times nothing");
  EXPECT_FALSE(parse_kernel_map("{"));
}

TEST(KernelSlice, ReachesFromWhatACallLeavesToWhatItIsGiven) {
  const KernelMap map = testing::add_mul_map();
  const Result<KernelSlice> add = slice_of_call(map, map.calls[0]), mul = slice_of_call(map, map.calls[1]);
  ASSERT_TRUE(add);
  ASSERT_TRUE(mul);
  ASSERT_EQ(add->program.graph.nodes.size(), 1u);
  EXPECT_EQ(add->program.graph.nodes[0].name, "add");
  // The second call is given the sum: who made it is none of its business.
  ASSERT_EQ(mul->program.graph.nodes.size(), 1u);
  EXPECT_EQ(mul->program.graph.nodes[0].name, "mul");
  ASSERT_EQ(mul->leaves.size(), 2u);
  EXPECT_EQ(mul->leaves[0].kind, KernelSlice::Leaf::Kind::kHeld);
  EXPECT_EQ(mul->outputs[0].argument, 0u);
}

TEST(KernelSlice, TakesConstantsFromTheWeightsAndSizesFromTheSymbols) {
  KernelMap map = *parse_kernel_map(document().dump());
  const Result<KernelSlice> slice = slice_of_call(map, map.calls[0]);
  ASSERT_TRUE(slice);
  ASSERT_EQ(slice->leaves.size(), 2u);
  EXPECT_EQ(slice->leaves[1].kind, KernelSlice::Leaf::Kind::kConstant);
  EXPECT_EQ(slice->leaves[1].fqn, "layer.weight");
}

TEST(KernelSlice, SaysWhyACallCannotBeJudged) {
  KernelMap map = testing::add_mul_map();
  map.calls[1].arguments[0].entry.clear();
  // It could be computed from the package's inputs, but the call is given the second of them only.
  EXPECT_THAT(slice_of_call(map, map.calls[1]).error().what, HasSubstr("needs input a"));
  map.calls[0].arguments[2].exit.clear();
  EXPECT_THAT(slice_of_call(map, map.calls[0]).error().what, HasSubstr("no value of the graph"));
  std::swap(map.graph.nodes[0], map.graph.nodes[1]);
  EXPECT_THAT(slice_of_call(map, map.calls[1]).error().what, HasSubstr("order of execution"));  // a hostile document
}

TEST(KernelSlice, OfValuesStartsAtThePackagesInputs) {
  const KernelMap map = testing::add_mul_map();
  const Result<KernelSlice> whole = slice_of_values(map, {"add", "mul"});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->program.graph.nodes.size(), 2u);
  ASSERT_EQ(whole->leaves.size(), 2u);
  EXPECT_EQ(whole->leaves[0].kind, KernelSlice::Leaf::Kind::kUser);
}

}  // namespace
}  // namespace aotifuzz
