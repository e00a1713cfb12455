#include "gate_report/program_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "gate_report/calls_text.h"

namespace aotifuzz {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = Argument::Kind;

const Expr kBatch = Expr::symbol("s0"), kSteps = Expr::symbol("s1"), kHeads = Expr::symbol("s2");

Argument named(Kind kind, const std::string& name) {
  Argument out;
  out.kind = kind;
  out.name = name;
  return out;
}

Argument integer(int64_t value) {
  Argument out;
  out.kind = Kind::kInt;
  out.integer = value;
  return out;
}

Argument list(Kind element, std::vector<Argument> items) {
  Argument out;
  out.kind = Kind::kList;
  out.element_kind = element;
  out.items = std::move(items);
  return out;
}

Expr op(ExprOp kind, std::vector<Expr> args) { return Expr::make(kind, std::move(args)); }

/// A program with an input x f32[s0,s1], tensors derived from it, and one node.
struct Caller {
  Program program;
  Contract contract;

  Caller() {
    Graph& graph = program.graph;
    graph.tensors["x"] = {.dtype = Dtype::kF32, .sizes = {kBatch, kSteps}, .strides = {kSteps, Expr::integer(1)}};
    graph.tensors["flat"] = {
        .dtype = Dtype::kBF16, .sizes = {op(ExprOp::kMul, {kBatch, kSteps})}, .strides = {Expr::integer(1)}};
    graph.tensors["i"] = {
        .dtype = Dtype::kI64, .sizes = {op(ExprOp::kAdd, {kBatch, Expr::integer(1)})}, .strides = {Expr::integer(1)}};
    graph.tensors["sparse"] = {.dtype = Dtype::kF32, .sizes = {kBatch}, .layout = 0};
    graph.tensors["odd"] = {.sizes = {kBatch}, .strides = {Expr::integer(1)}};
    graph.sym_ints["sym_size"] = kSteps;
    graph.sym_ints["fixed"] = Expr::integer(16);
    graph.sym_ints["heads"] = kHeads;
    InputSpec x;
    x.name = "x";
    x.sizes = {kBatch, kSteps};
    contract.inputs = {x};
    contract.symbols = {{.name = "s0", .dim = "x.size(0)", .min = 0, .max = 4096},
                        {.name = "s1", .dim = "x.size(1)", .min = 3, .max = std::nullopt}};
    program.range_constraints["s2"] = {.min = 2, .max = 64};
  }

  void guard(Expr expr) {
    Condition condition;
    condition.expr = std::move(expr);
    contract.conditions.push_back(std::move(condition));
  }

  std::vector<ProgramCall> calls(std::vector<std::pair<std::string, Argument>> arguments,
                                 const std::string& target = "torch.ops.ns.op.default") {
    Node node;
    node.name = "op_1";
    node.target = target;
    for (auto& [name, value] : arguments) node.inputs.push_back({name, std::move(value), false});
    program.graph.nodes.push_back(std::move(node));
    PackageInfo info;
    info.path = "model.pt2";
    info.contract = contract;
    info.program = std::make_shared<const Program>(program);
    return calls_of(info).calls;
  }

  std::string line(std::vector<std::pair<std::string, Argument>> arguments) {
    return calls(std::move(arguments))[0].line;
  }
};

const Argument kX = named(Kind::kTensor, "x");

TEST(ProgramCalls, TensorsHaveTheirSymbolsAndRanges) {
  EXPECT_EQ(Caller().line({{"x", kX}, {"i", named(Kind::kTensor, "i")}}),
            "ns::op x=f32[s0,s1] i=i64[s0+1] s0<=4096 s1>=3");
  EXPECT_EQ(Caller().line({{"f", named(Kind::kTensor, "flat")}}), "ns::op f=bf16[s0*s1] s0<=4096 s1>=3");
}

TEST(ProgramCalls, LiteralsAreSaidAsTheyAre) {
  Argument real = named(Kind::kFloat, ""), yes = named(Kind::kBool, ""), dtype = named(Kind::kScalarType, "");
  real.real = -std::numeric_limits<double>::infinity();
  yes.boolean = true;
  dtype.integer = 5;
  Argument half = real;
  half.real = 0.5;
  EXPECT_EQ(Caller().line({{"a", integer(-3)},
                           {"b", real},
                           {"c", yes},
                           {"d", named(Kind::kString, "a # b|c")},
                           {"e", dtype},
                           {"f", named(Kind::kNone, "")},
                           {"g", list(Kind::kInt, {integer(2), named(Kind::kSymInt, "fixed")})},
                           {"h", list(Kind::kFloat, {half, real})},
                           {"i", list(Kind::kFloat, {})},
                           {"j", list(Kind::kTensor, {kX, kX})},
                           {"k", list(Kind::kTensor, {})}}),
            "ns::op a=-3 b=-inf c=true d=\"a # b|c\" e=i64 f=None g=[2,16] h=[0.5,-inf] i=[] "
            "j={f32[s0,s1];f32[s0,s1]} k={} s0<=4096 s1>=3");
}

TEST(ProgramCalls, SizesMayBeGivenAsNumbers) {
  EXPECT_EQ(Caller().line({{"k", named(Kind::kSymInt, "sym_size")}, {"n", named(Kind::kSymInt, "fixed")}}),
            "ns::op k=$s1 n=16 s1>=3");
  EXPECT_EQ(Caller().line({{"sizes", list(Kind::kInt, {named(Kind::kSymInt, "sym_size"), integer(-1)})}}),
            "ns::op sizes=[s1,-1] s1>=3");
  // Export's lower bound of 2 is no promise of a size, and does not make a number 0.
  EXPECT_EQ(Caller().line({{"heads", named(Kind::kSymInt, "heads")}}), "ns::op heads=$s2 s2>=1 s2<=64");
}

TEST(ProgramCalls, GuardsBecomeBoundsAndConditions) {
  const Expr rows = Expr::symbol("x.size(0)"), columns = Expr::symbol("x.size(1)");
  Caller caller;
  caller.guard(op(ExprOp::kEq, {op(ExprOp::kMod, {rows, Expr::integer(8)}), Expr::integer(0)}));
  caller.guard(op(ExprOp::kGe, {columns, Expr::integer(5)}));
  caller.guard(op(ExprOp::kLe, {rows, op(ExprOp::kMul, {Expr::integer(2), columns})}));
  caller.guard(op(ExprOp::kNe, {columns, Expr::integer(7)}));
  caller.guard(op(ExprOp::kEq, {rows, rows}));
  caller.guard(op(ExprOp::kLe, {rows, Expr::symbol("y.size(0)")}));  // nothing that the call has
  caller.guard(Expr::opaque("L['x'].is_contiguous()"));
  EXPECT_EQ(caller.line({{"x", kX}}), "ns::op x=f32[s0,s1] s0<=4096 s0%8 s1>=5 (s0 <= 2*s1) (s1 != 7)");
}

TEST(ProgramCalls, WhatASpecHasNoWordsForIsSaidSo) {
  const std::vector<std::pair<Argument, std::string>> cases = {
      {named(Kind::kComplex, ""), "`a` is a complex number"},
      {named(Kind::kDevice, "cpu"), "`a` is a device"},
      {named(Kind::kSymFloat, "f"), "computed from sizes"},
      {named(Kind::kString, "say \"no\""), "quotation marks"},
      {named(Kind::kTensor, "sparse"), "no strided tensor"},
      {named(Kind::kTensor, "odd"), "dtype without a name"},
      {named(Kind::kTensor, "missing"), "does not declare"},
      {named(Kind::kUnknown, "as_new"), "as_new"},
      {list(Kind::kTensor, {kX, named(Kind::kNone, "")}), "None in it"},
      {list(Kind::kList, {list(Kind::kInt, {integer(1)})}), "no words"}};
  for (const auto& [argument, words] : cases) {
    const auto calls = Caller().calls({{"x", kX}, {"a", argument}});
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].line, "") << words;
    EXPECT_THAT(calls[0].why_not, HasSubstr(words));
  }
}

TEST(ProgramCalls, OnlyOperatorsOfLibrariesCount) {
  EXPECT_EQ(Caller().calls({}, "torch.ops.ns.op.out")[0].op, "ns::op.out");
  for (const char* target :
       {"torch.ops.aten.add.Tensor", "_operator.mul", "torch.ops.higher_order.cond", "torch.ops.ns"})
    EXPECT_TRUE(Caller().calls({{"x", kX}}, target).empty()) << target;
}

TEST(ProgramCalls, BodiesOfConditionsAreLookedInto) {
  Caller inner;
  inner.calls({{"x", kX}});
  Argument body = named(Kind::kGraph, "true_graph_0");
  body.graph = std::make_shared<Graph>(inner.program.graph);
  EXPECT_EQ(Caller().calls({{"body", body}}, "torch.ops.higher_order.cond")[0].line,
            "ns::op x=f32[s0,s1] s0<=4096 s1>=3");
}

TEST(ProgramCalls, APackageWithoutAProgramIsAnErrorOfThreeParts) {
  PackageInfo info;
  info.path = "model.pt2";
  try {
    calls_of(info);
    FAIL();
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("no exported program"), HasSubstr("where: model.pt2"), HasSubstr("to do:")));
  }
}

OperatorVerdict verdict(const std::string& name, int calls, std::vector<std::string> not_used = {}) {
  OperatorVerdict out;
  out.name = name;
  out.calls = calls;
  out.calls_not_used = std::move(not_used);
  return out;
}

TEST(CallsText, EachCallIsCountedOnce) {
  const std::vector<ProgramCalls> programs = {{.package = "model.pt2",
                                               .calls = {{"ns::a", "a_1", "ns::a x=f32[s0]", ""},
                                                         {"ns::a", "a_2", "ns::a x=f32[s0]", ""},
                                                         {"ns::a", "a_3", "", "argument `z` is a device"},
                                                         {"ns::b", "b_1", "ns::b x=f32[s0]", ""},
                                                         {"ns::c", "c_1", "ns::c y=f32[s0]", ""},
                                                         {"other::d", "d_1", "other::d x=f32[s0]", ""}}}};
  EXPECT_EQ(calls_spec(programs), "ns::a x=f32[s0]\nns::b x=f32[s0]\nns::c y=f32[s0]\nother::d x=f32[s0]\n");
  const std::string text = calls_text(programs, {verdict("ns::a", 1), verdict("ns::b", 0),
                                                 verdict("ns::c", 0, {"no argument `y`"}), verdict("ns::e", 0)});
  EXPECT_THAT(text, HasSubstr("arguments of 2 calls of 1 operator are from model.pt2\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("1 call: ns::a (a_3)\n    argument `z` is a device"),
                          HasSubstr("ns::b (b_1)\n    the line of the spec is used"),
                          HasSubstr("ns::c (c_1)\n    no argument `y`"), HasSubstr("other::d (d_1)")));
  EXPECT_THAT(text, HasSubstr("1 operator not called there"));
  EXPECT_EQ(calls_text({}, {verdict("ns::a", 0)}), "");
}

}  // namespace
}  // namespace aotifuzz
