#include "package/trace_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "package/error_context.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class TraceContext : public ::testing::Test {
 protected:
  TraceContext() {
    InputSpec x;
    x.name = "x";
    x.sizes = {Expr::symbol("s0"), Expr::symbol("s1")};
    InputSpec y = x;
    y.name = "y";
    package_.contract.inputs = {x, y};
    package_.compiled.emplace();
    package_.compiled->input_names = {"x", "y"};
    const Expr rows = Expr::symbol("x.size(0)"), other = Expr::symbol("y.size(0)");
    const Expr equal = Expr::make(ExprOp::kEq, {other, rows});
    package_.contract.conditions.push_back({Condition::Kind::kSize, 1, equal, equal.text()});
    add_guard(Expr::make(ExprOp::kGt, {rows, Expr::integer(3)}), "model.py:6: if x.shape[0] > 3:");
    add_guard(Expr::make(ExprOp::kEq, {rows, other}), "model.py:7: x = x + y");
    add_guard(Expr::make(ExprOp::kGe, {Expr::symbol("u0"), Expr::integer(1)}), "model.py:9: torch._check(n >= 1)");
    trace_.symbols.push_back({"u0", "", "", "[-int_oo, int_oo]", "", "model.py:8: n = m.item()"});
    trace_.kernels.push_back({"cpp_fused_add_0", {"model.py:7: x = x + y"}, false});
    trace_.data_dependent.push_back({"Eq(u0, 1)", "model.py:10: if n == 1:"});
  }

  void add_guard(const Expr& expr, const char* line) { trace_.guards.push_back({expr, expr.text(), line, false, 1}); }

  /// Facts of the only error in `log`. `culprit` is what the package's facts would have said.
  std::vector<std::pair<std::string, std::string>> facts(const char* log,
                                                         std::vector<std::pair<std::string, std::string>> before = {},
                                                         const char* culprit = "") {
    const std::vector<RecognisedError> errors = recognise_errors(log);
    EXPECT_EQ(errors.size(), 1u) << log;
    if (errors.empty()) return {};
    Explanation out = explain_error(errors.front(), {});
    out.facts = std::move(before);
    if (*culprit) out.culprit = culprit;
    add_trace_facts(trace_, package_, errors.front(), &out);
    return out.facts;
  }

  PackageInfo package_;
  CompileTrace trace_;
};

TEST_F(TraceContext, ARefusedSizeHasTheGuardThatAsksForIt) {
  EXPECT_THAT(facts("Error: input_handles[0]: dim value is too small at 0, expected it to be >= 4, but got: 3"),
              Contains(Pair("because of", "x.size(0) > 3 at model.py:6: if x.shape[0] > 3:")));
  // Another input, another dimension, a size that the guard allows: nothing is said.
  for (const char* log : {"Error: input_handles[1]: dim value is too small at 0, expected it to be >= 4, but got: 3",
                          "Error: input_handles[0]: dim value is too small at 1, expected it to be >= 4, but got: 3",
                          "Error: input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 65",
                          "Error: input_handles[7]: dim value is too small at 0, expected it to be >= 4, but got: 3"})
    EXPECT_THAT(facts(log), IsEmpty()) << log;
}

TEST_F(TraceContext, InputsThatMustAgreeHaveTheLineThatAsksForIt) {
  const char* log =
      "Error: expected size 4==4, stride 9==7 at dim=0; expected size 9==7, stride 1==1 at dim=1\nError in op: input";
  EXPECT_THAT(facts(log, {}, "a size differs: the caller breaks y.size(0) == x.size(0)"),
              Contains(Pair("because of", "x.size(0) == y.size(0) at model.py:7: x = x + y")));
  EXPECT_THAT(facts(log, {}, "input x"), IsEmpty());
}

TEST_F(TraceContext, TheProgramsOwnGuardsAreFound) {
  EXPECT_THAT(facts("AssertionError: Guard failed: x.size()[0] > 3"),
              Contains(Pair("because of", "x.size(0) > 3 at model.py:6: if x.shape[0] > 3:")));
  EXPECT_THAT(facts("AssertionError: Guard failed: x.size()[1] > 3"), IsEmpty());
}

TEST_F(TraceContext, ASizeOfValuesHasItsOriginAndItsCheck) {
  const auto said = facts("Error: Expected u0 >= 1 but received 0");
  EXPECT_THAT(said, Contains(Pair("u0 comes from", "model.py:8: n = m.item()")));
  EXPECT_THAT(said, Contains(Pair("because of", "u0 >= 1 at model.py:9: torch._check(n >= 1)")));
}

TEST_F(TraceContext, WhatExportCouldNotDecideHasItsLine) {
  EXPECT_THAT(facts("GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: "
                    "Eq(u0, 1)).  (Size-like symbols: u0)"),
              Contains(Pair("model line", "model.py:10: if n == 1:")));
}

TEST_F(TraceContext, AKernelHasItsLinesUnlessThePackageHasThem) {
  const char* log = "Error: index out of bounds: 0 <= tmp2 < 100L";
  EXPECT_THAT(facts(log, {{"kernel", "cpp_fused_add_0"}}), Contains(Pair("model lines", "model.py:7: x = x + y")));
  EXPECT_THAT(facts(log, {{"kernel", "cpp_fused_add_0"}, {"model line", "model.py:1"}}),
              Not(Contains(Pair("model lines", "model.py:7: x = x + y"))));
  EXPECT_THAT(facts(log, {{"kernel", "cpp_fused_mul_0"}}).size(), 1u);
  trace_.kernels[0].by_name = true;
  EXPECT_THAT(facts(log, {{"made by", "cpp_fused_add_0 (call 1)"}}),
              Contains(Pair("model lines with its operators", "model.py:7: x = x + y")));
}

}  // namespace
}  // namespace aotifuzz
