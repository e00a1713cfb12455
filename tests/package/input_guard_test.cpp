#include "package/input_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Expr size(const std::string& name) { return Expr::symbol(name); }
Expr number(int64_t value) { return Expr::integer(value); }

InputSpec tensor(const std::string& name, std::vector<Expr> sizes, std::vector<Expr> strides) {
  InputSpec spec;
  spec.name = name;
  spec.sizes = std::move(sizes);
  spec.strides = std::move(strides);
  return spec;
}

/// x f32[s0, 4], dense; y f32[s0], transposed x: strides (1, s0).
Contract contract() {
  Contract out;
  out.inputs = {tensor("x", {size("s0"), number(4)}, {number(4), number(1)}),
                tensor("y", {size("s0"), number(4)}, {number(1), size("s0")})};
  out.symbols = {{"s0", "x.size(0)", 0, std::nullopt, false}};
  return out;
}

Violation broken(Condition::Kind kind, int input, std::string text) { return {kind, input, std::move(text), ""}; }

TEST(InputGuard, OfAConditionOnASizeStaysInTheProgram) {
  const Expr even = Expr::make(ExprOp::kEq, {Expr::make(ExprOp::kMod, {size("x.size(0)"), number(2)}), number(0)});
  const AuditGuard guard = guard_of_condition(contract(), even);
  EXPECT_THAT(guard.python, ElementsAre("torch._check(x.size(0) % 2 == 0)"));
  EXPECT_THAT(guard.automatic, ElementsAre(Pair("x", 0)));
  EXPECT_EQ(guard.caller, "assert x.size(0) % 2 == 0");
  EXPECT_EQ(guard.cpp, "TORCH_CHECK((x.size(0) % 2) == 0, \"x.size(0) % 2 == 0\");");
}

TEST(InputGuard, OfEqualSizesComparesThemAsData) {
  const AuditGuard guard =
      guard_of_condition(contract(), Expr::make(ExprOp::kEq, {size("y.size(0)"), size("x.size(0)")}));
  EXPECT_THAT(guard.python,
              ElementsAre("n = torch.scalar_tensor(y.size(0), dtype=torch.int64).item()",
                          "torch._check(n == x.size(0))", "y = y.index_select(0, torch.arange(n, device=y.device))"));
  EXPECT_EQ(guard.cpp, "TORCH_CHECK(y.size(0) == x.size(0), \"y.size(0) == x.size(0)\");");
}

TEST(InputGuard, OfABoundThatExportTakesForGrantedReadsTheSizeAsData) {
  const AuditGuard guard = guard_of_condition(contract(), Expr::make(ExprOp::kGe, {size("x.size(0)"), number(1)}));
  EXPECT_THAT(guard.python,
              ElementsAre("n = torch.scalar_tensor(x.size(0), dtype=torch.int64).item()", "torch._check(n >= 1)"));
  const AuditGuard wider = guard_of_condition(contract(), Expr::make(ExprOp::kGe, {size("x.size(0)"), number(8)}));
  EXPECT_THAT(wider.python, ElementsAre("torch._check(x.size(0) >= 8)"));
}

TEST(InputGuard, OfASizePinnedByItsExampleAsksForAnother) {
  const AuditGuard guard = guard_of_condition(contract(), Expr::make(ExprOp::kEq, {size("x.size(0)"), number(1)}));
  EXPECT_THAT(guard.python, IsEmpty());
  EXPECT_THAT(guard.example, ElementsAre(Pair(Pair("x", 0), 3)));
  EXPECT_THAT(guard.note, HasSubstr("pins x.size(0)"));
}

TEST(InputGuard, OfStridesKnowsDenseOnesInAnyFormAndNamesNoSymbolOfTheExport) {
  const auto times = [](int64_t factor, const char* name) {
    return Expr::make(ExprOp::kMul, {number(factor), size(name)});
  };
  Contract c = contract();
  c.inputs.push_back(
      tensor("z", {size("s0"), number(3), times(32, "s0")}, {times(96, "s0"), times(32, "s0"), number(1)}));
  c.inputs.push_back(tensor("w", {size("s0"), number(4)}, {times(8, "s9"), number(1)}));
  c.symbols.push_back({"s9", "", 0, std::nullopt, false});
  const AuditGuard dense = guard_against(c, broken(Condition::Kind::kStride, 2, "z: strides as exported (dense)"));
  EXPECT_EQ(dense.caller, "assert z.is_contiguous()");
  const AuditGuard unknown = guard_against(c, broken(Condition::Kind::kStride, 3, "w: strides as exported"));
  EXPECT_EQ(unknown.caller + unknown.cpp, "");
  EXPECT_THAT(unknown.note, HasSubstr("no guard can be written"));
}

TEST(InputGuard, OfWhatExportDoesNotStateIsForTheCaller) {
  const Contract c = contract();
  const AuditGuard dense = guard_against(c, broken(Condition::Kind::kStride, 0, "x: strides as exported (dense)"));
  EXPECT_THAT(dense.python, IsEmpty());
  EXPECT_EQ(dense.caller, "assert x.is_contiguous()");
  EXPECT_THAT(dense.cpp, HasSubstr("x.is_contiguous()"));
  const AuditGuard other = guard_against(c, broken(Condition::Kind::kStride, 1, "y: strides as exported"));
  EXPECT_EQ(other.caller, "assert (y.size(0) < 2 or y.stride(0) == 1) and (y.size(1) < 2 or y.stride(1) == x.size(0))");
  EXPECT_THAT(other.cpp, HasSubstr("(y.size(0) < 2 || y.stride(0) == 1) && "));
  const AuditGuard dtype = guard_against(c, broken(Condition::Kind::kDtype, 0, "x.dtype == f32"));
  EXPECT_EQ(dtype.caller, "assert x.dtype == torch.float32");
  EXPECT_THAT(dtype.cpp, HasSubstr("x.scalar_type() == torch::kFloat32"));
  EXPECT_THAT(guard_against(c, broken(Condition::Kind::kOverlap, 1, "y: shares no memory with x")).cpp,
              HasSubstr("at::assert_no_overlap(y, x);"));
  EXPECT_THAT(guard_against(c, broken(Condition::Kind::kRank, 0, "x.dim() == 2")).cpp, HasSubstr("x.dim() == 2"));
}

TEST(InputGuard, OfAnIndexLooksAtItsValues) {
  Contract c = contract();
  EXPECT_EQ(index_condition(c.inputs[1]), "");
  c.inputs[1].role.kind = ValueRole::Kind::kIndex;
  EXPECT_EQ(index_condition(c.inputs[1]), "");
  c.inputs[1].role.bound = size("x.size(0)");
  const std::string item = index_condition(c.inputs[1]);
  EXPECT_EQ(item, "y: values from 0 to x.size(0) - 1");
  const AuditGuard guard = guard_of_index(c, item);
  EXPECT_THAT(guard.python, ElementsAre("torch._assert_async(((y >= 0) & (y < x.size(0))).all(), \"" + item + "\")"));
  EXPECT_THAT(guard.cpp, HasSubstr("((y >= 0) & (y < x.size(0))).all().item<bool>()"));
  EXPECT_THAT(guard_of_index(c, "z: values").python, IsEmpty());
}

TEST(InputGuard, NamesOfDtypesAreThoseOfCpp) {
  Contract c = contract();
  const std::vector<std::pair<Dtype, const char*>> names = {
      {Dtype::kI64, "kInt64"}, {Dtype::kU8, "kUInt8"}, {Dtype::kBF16, "kBFloat16"}, {Dtype::kBool, "kBool"}};
  for (const auto& [dtype, name] : names) {
    c.inputs[0].dtype = dtype;
    EXPECT_THAT(guard_against(c, broken(Condition::Kind::kDtype, 0, "")).cpp, HasSubstr(std::string("torch::") + name));
  }
}

TEST(InputGuard, OfTheNumberOfInputsAndTheirDeviceIsForTheCaller) {
  Contract of = contract();
  of.inputs[1].device = "cuda:0";
  const AuditGuard count = guard_against(of, broken(Condition::Kind::kKind, -1, "number of inputs as exported"));
  EXPECT_EQ(count.cpp, "TORCH_CHECK(inputs.size() == 2, \"the package takes 2 tensors\");");
  EXPECT_THAT(count.caller, HasSubstr("len(inputs) == 2"));
  EXPECT_EQ(guard_against(of, broken(Condition::Kind::kKind, 0, "x: a tensor, not None")).caller,
            "assert x is not None");
  const AuditGuard cpu = guard_against(of, broken(Condition::Kind::kDevice, 0, "x.device.type == cpu"));
  EXPECT_EQ(cpu.caller, "assert x.device.type == \"cpu\"");
  EXPECT_EQ(cpu.cpp, "TORCH_CHECK(x.is_cpu(), \"x.device.type == cpu\");");
  EXPECT_THAT(guard_against(of, broken(Condition::Kind::kDevice, 1, "y.device.type == cuda")).cpp,
              HasSubstr("y.is_cuda()"));
  EXPECT_THAT(count.python, IsEmpty());
}

TEST(CppText, HasNoneForWhatCppHasNot) {
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kPow, {number(2), size("n")})), "");
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kGe, {Expr::opaque("f(x)"), number(1)})), "");
  const Expr rows = size("x.size(0)"), less = Expr::make(ExprOp::kAdd, {rows, number(-1)});
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kFloorDiv, {rows, number(2)})), "(x.size(0) / 2)");
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kMod, {rows, number(2)})), "(x.size(0) % 2)");
  // What may be negative is divided as Python divides it.
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kFloorDiv, {less, number(32)})),
            "c10::div_floor_integer<int64_t>(" + cpp_text(less) + ", 32)");
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kMod, {less, number(32)})), "(((" + cpp_text(less) + " % 32) + 32) % 32)");
  EXPECT_EQ(cpp_text(Expr::make(ExprOp::kFloorDiv, {size("n"), number(2)})), "c10::div_floor_integer<int64_t>(n, 2)");
}

}  // namespace
}  // namespace aotifuzz
