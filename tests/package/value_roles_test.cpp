#include "package/value_roles.h"

#include <gtest/gtest.h>

#include "package/program_reader.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using nlohmann::json;
using schema::meta;
using schema::node;
using schema::size;
using schema::symbol;
using schema::tensor;

json sint(int64_t value) { return {{"as_int", value}}; }

/// x f32[N, 6], i i64[M], m bool[N]; the metas of other values may be added by `tensors`.
InputUse use_of(const std::string& input, const std::vector<json>& nodes, const json& tensors = json::object(),
                const json& sym_ints = json::object()) {
  json p = schema::program({{"x", meta(7, {size(symbol("s0")), size(6)}, {size(6), size(1)})},
                            {"i", meta(5, {size(symbol("s1"))}, {size(1)})},
                            {"m", meta(12, {size(symbol("s0"))}, {size(1)})}},
                           nodes, "x");
  p["graph_module"]["graph"]["tensor_values"].update(tensors);
  p["graph_module"]["graph"]["sym_int_values"].update(sym_ints);
  const Result<Program> program = parse_program(p.dump(), "model");
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what;
    return {};
  }
  const std::function<Expr(const Expr&)> same = [](const Expr& e) { return e; };
  return learn_input_uses(*program, same).at(input);
}

using Kind = ValueRole::Kind;

std::string bound_of(const InputUse& use) { return use.role.bound ? use.role.bound->text() : "none"; }

TEST(ValueRoles, IndexOfADimensionHasItsSizeAsBound) {
  const InputUse select = use_of("i", {node("torch.ops.aten.index_select.default",
                                            {{"self", tensor("x")}, {"dim", sint(-1)}, {"index", tensor("i")}}, "y")});
  EXPECT_EQ(select.role.kind, Kind::kIndex);
  EXPECT_EQ(bound_of(select), "6");
  EXPECT_EQ(select.role.op, "aten.index_select.default");
  const InputUse take =
      use_of("i", {node("torch.ops.aten.take.default", {{"self", tensor("x")}, {"index", tensor("i")}}, "y")});
  EXPECT_EQ(bound_of(take), "s0*6");
  const InputUse hot =
      use_of("i", {node("torch.ops.aten.one_hot.default", {{"self", tensor("i")}, {"num_classes", sint(9)}}, "y")});
  EXPECT_EQ(bound_of(hot), "9");
}

TEST(ValueRoles, AdvancedIndexingKnowsMasksAndPositions) {
  const json none_i = {{"as_optional_tensors", {{{"as_none", true}}, {{"as_tensor", {{"name", "i"}}}}}}};
  const InputUse second =
      use_of("i", {node("torch.ops.aten.index.Tensor", {{"self", tensor("x")}, {"indices", none_i}}, "y")});
  EXPECT_EQ(second.role.kind, Kind::kIndex);
  EXPECT_EQ(bound_of(second), "6");
  const json mask_i = {{"as_tensors", {{{"name", "m"}}, {{"name", "i"}}}}};
  EXPECT_EQ(
      bound_of(use_of("i", {node("torch.ops.aten.index.Tensor", {{"self", tensor("x")}, {"indices", mask_i}}, "y")})),
      "6");
  EXPECT_EQ(use_of("m", {}).role.kind, Kind::kMask);
}

TEST(ValueRoles, ViewsAndCastsAreLookedThrough) {
  const InputUse use = use_of(
      "i",
      {node("torch.ops.aten.to.dtype", {{"self", tensor("i")}, {"dtype", {{"as_scalar_type", 5}}}}, "a"),
       node("torch.ops.aten.unsqueeze.default", {{"self", tensor("a")}, {"dim", sint(0)}}, "b"),
       node("torch.ops.aten.gather.default", {{"self", tensor("x")}, {"dim", sint(0)}, {"index", tensor("b")}}, "c")});
  EXPECT_EQ(use.role.kind, Kind::kIndex);
  EXPECT_EQ(bound_of(use), "s0");
  const InputUse arithmetic =
      use_of("i", {node("torch.ops.aten.add.Tensor", {{"self", tensor("i")}, {"other", sint(1)}}, "a"),
                   node("torch.ops.aten.take.default", {{"self", tensor("x")}, {"index", tensor("a")}}, "b")});
  EXPECT_EQ(arithmetic.role.kind, Kind::kPlain);
}

TEST(ValueRoles, ItemThatSelectsIsAnIndex) {
  json item = node("torch.ops.aten.item.default", {{"self", tensor("i")}}, "");
  item["outputs"] = json::array({json{{"as_sym_int", {{"as_name", "item"}}}}});
  const json index = {{"as_sym_int", {{"as_name", "item"}}}};
  const InputUse use = use_of(
      "i", {item, node("torch.ops.aten.select.int", {{"self", tensor("x")}, {"dim", sint(1)}, {"index", index}}, "y")},
      json::object(), {{"item", size("Symbol('u0', integer=True)")}});
  EXPECT_EQ(use.role.kind, Kind::kIndex);
  EXPECT_EQ(bound_of(use), "6");
}

TEST(ValueRoles, OffsetsAreVectorsCutAtBothEnds) {
  const auto slice = [](int64_t start, int64_t end, const char* out) {
    return node("torch.ops.aten.slice.Tensor",
                {{"self", tensor("i")}, {"dim", sint(0)}, {"start", sint(start)}, {"end", sint(end)}}, out);
  };
  const InputUse both = use_of("i", {slice(1, INT64_MAX, "a"), slice(0, -1, "b")});
  EXPECT_EQ(both.role.kind, Kind::kOffsets);
  EXPECT_EQ(bound_of(both), "s0");
  EXPECT_EQ(use_of("i", {slice(1, INT64_MAX, "a")}).role.kind, Kind::kPlain);
  const InputUse bag =
      use_of("i",
             {node("torch.ops.aten.embedding_bag.default",
                   {{"weight", tensor("x")}, {"indices", tensor("k")}, {"offsets", tensor("i")}}, "y")},
             {{"k", meta(5, {size(40)}, {size(1)})}});
  EXPECT_EQ(bag.role.kind, Kind::kOffsets);
  EXPECT_EQ(bound_of(bag), "40");
}

TEST(ValueRoles, OtherRoles) {
  const auto second = [](const char* target, const char* argument) {
    return use_of("i", {node(target, {{"self", tensor("x")}, {argument, tensor("i")}}, "y")}).role.kind;
  };
  EXPECT_EQ(second("torch.ops.aten.div.Tensor_mode", "other"), Kind::kDivisor);
  EXPECT_EQ(second("torch.ops.aten.remainder.Tensor", "other"), Kind::kDivisor);
  EXPECT_EQ(second("torch.ops.aten.__lshift__.Tensor", "other"), Kind::kShift);
  EXPECT_EQ(second("torch.ops.aten.repeat_interleave.self_Tensor", "repeats"), Kind::kCount);
  EXPECT_EQ(second("torch.ops.aten.bucketize.Tensor", "boundaries"), Kind::kSorted);
  EXPECT_EQ(second("torch.ops.aten.searchsorted.Tensor", "sorted_sequence"), Kind::kSorted);
  EXPECT_EQ(second("torch.ops.aten.add.Tensor", "other"), Kind::kPlain);
}

TEST(ValueRoles, AnIndexStaysAnIndexWhateverElseUsesIt) {
  const json take = node("torch.ops.aten.take.default", {{"self", tensor("x")}, {"index", tensor("i")}}, "a");
  const json shift = node("torch.ops.aten.__lshift__.Tensor", {{"self", tensor("x")}, {"other", tensor("i")}}, "b");
  EXPECT_EQ(use_of("i", {take, shift}).role.kind, Kind::kIndex);
  EXPECT_EQ(use_of("i", {shift, take}).role.kind, Kind::kIndex);
}

TEST(ValueRoles, MutationThroughAViewCountsAndOfACopyDoesNot) {
  const json view = node("torch.ops.aten.slice.Tensor", {{"self", tensor("x")}}, "v");
  const json copy = node("torch.ops.aten.clone.default", {{"self", tensor("x")}}, "v");
  const json write = node("torch.ops.aten.copy_.default", {{"self", tensor("v")}, {"src", tensor("i")}}, "w");
  EXPECT_TRUE(use_of("x", {view, write}).mutated);
  EXPECT_FALSE(use_of("x", {copy, write}).mutated);
  EXPECT_FALSE(use_of("i", {view, write}).mutated);
  EXPECT_FALSE(use_of("x", {node("torch.ops.aten.__lshift__.Tensor", {{"self", tensor("x")}}, "y")}).mutated);
}

TEST(ValueRoles, SubGraphsAreEntered) {
  json inner = schema::program({{"p", meta(7, {size(6)}, {size(1)})}, {"q", meta(5, {size(2)}, {size(1)})}},
                               {node("torch.ops.aten.index_select.default",
                                     {{"self", tensor("p")}, {"dim", sint(0)}, {"index", tensor("q")}}, "r")},
                               "r")["graph_module"]["graph"];
  const json graph = {{"as_graph", {{"name", "true_graph_0"}, {"graph", inner}}}};
  const json operands = {{"as_tensors", {{{"name", "x"}}, {{"name", "i"}}}}};
  const InputUse use = use_of("i", {node("torch.ops.higher_order.cond",
                                         {{"pred", tensor("m")}, {"true_fn", graph}, {"operands", operands}}, "y")});
  EXPECT_EQ(use.role.kind, Kind::kIndex);
  EXPECT_EQ(bound_of(use), "6");
}

}  // namespace
}  // namespace aotifuzz
