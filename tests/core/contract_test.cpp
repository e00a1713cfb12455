#include "core/contract.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace aotifuzz {
namespace {

Expr sym(const char* name) { return Expr::symbol(name); }
Expr num(int64_t value) { return Expr::integer(value); }
Expr op(ExprOp o, std::vector<Expr> args) { return Expr::make(o, std::move(args)); }

/// x f32[s0, s1, 4] dense, i i64[s0, s1] dense, n int: i's sizes equal x's, s1 at most 8.
Contract two_inputs() {
  Contract contract;
  InputSpec x;
  x.name = "x";
  x.sizes = {sym("s0"), sym("s1"), num(4)};
  x.strides = {op(ExprOp::kMul, {num(4), sym("s1")}), num(4), num(1)};
  InputSpec i;
  i.name = "i";
  i.dtype = Dtype::kI64;
  i.sizes = {sym("s0"), sym("s1")};
  i.strides = {sym("s1"), num(1)};
  InputSpec n;
  n.name = "n";
  n.kind = CaseInput::Kind::kInt;
  n.is_constant = true;
  n.constant = int64_t{3};
  contract.inputs = {x, i, n};
  contract.symbols = {{"s0", "x.size(0)"}, {"s1", "x.size(1)"}};
  const auto add = [&](Condition::Kind kind, int input, Expr expr) {
    contract.conditions.push_back({kind, input, expr, expr.text()});
  };
  add(Condition::Kind::kSize, 0, op(ExprOp::kEq, {sym("x.size(2)"), num(4)}));
  add(Condition::Kind::kSize, -1, op(ExprOp::kEq, {sym("i.size(0)"), sym("x.size(0)")}));
  add(Condition::Kind::kSize, -1, op(ExprOp::kEq, {sym("i.size(1)"), sym("x.size(1)")}));
  add(Condition::Kind::kRange, 0, op(ExprOp::kLe, {sym("x.size(1)"), num(8)}));
  return contract;
}

Case legal_case() {
  Case c;
  c.inputs.resize(3);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {2, 3, 4};
  c.inputs[1].name = "i";
  c.inputs[1].dtype = Dtype::kI64;
  c.inputs[1].sizes = {2, 3};
  c.inputs[2].name = "n";
  c.inputs[2].kind = CaseInput::Kind::kInt;
  c.inputs[2].scalar = int64_t{3};
  return c;
}

std::vector<std::string> texts(const std::vector<Violation>& found) {
  std::vector<std::string> out;
  for (const Violation& violation : found) out.push_back(violation.text);
  return out;
}

TEST(Contract, DimensionValuesComeFromTheCase) {
  const Case c = legal_case();
  EXPECT_EQ(dimension_value(c, "x.size(1)"), 3);
  EXPECT_EQ(dimension_value(c, "x.stride(0)"), 12);
  EXPECT_EQ(dimension_value(c, "x.offset()"), 0);
  EXPECT_EQ(dimension_value(c, "n"), 3);
  EXPECT_EQ(dimension_value(c, "x.size(3)"), std::nullopt);
  EXPECT_EQ(dimension_value(c, "x.size(-1)"), std::nullopt);
  EXPECT_EQ(dimension_value(c, "x.size(1x)"), std::nullopt);
  EXPECT_EQ(dimension_value(c, "y.size(0)"), std::nullopt);
  EXPECT_EQ(dimension_value(c, "n.size(0)"), std::nullopt);
  EXPECT_EQ(dimension_value(c, "x"), std::nullopt);
  EXPECT_EQ(dimension_value(c, ""), std::nullopt);
  EXPECT_EQ(dimension_value(c, ")"), std::nullopt);
}

TEST(Contract, LegalCaseBreaksNothing) { EXPECT_TRUE(violations(two_inputs(), legal_case()).empty()); }

TEST(Contract, BrokenRelationNamesDimensionsAndNumbers) {
  Case c = legal_case();
  c.inputs[1].sizes[1] = 9;
  const std::vector<Violation> found = violations(two_inputs(), c);
  // Nothing about strides: i is dense for the sizes that it has.
  ASSERT_EQ(texts(found), std::vector<std::string>{"i.size(1) == x.size(1)"});
  EXPECT_EQ(found[0].detail, "i.size(1) = 9, x.size(1) = 3");
  EXPECT_EQ(found[0].kind, Condition::Kind::kSize);
}

TEST(Contract, RangeIsInclusive) {
  Case c = legal_case();
  c.inputs[0].sizes[1] = c.inputs[1].sizes[1] = 8;
  EXPECT_TRUE(violations(two_inputs(), c).empty());
  c.inputs[0].sizes[1] = c.inputs[1].sizes[1] = 9;
  EXPECT_EQ(texts(violations(two_inputs(), c)), std::vector<std::string>{"x.size(1) <= 8"});
}

TEST(Contract, NamesOfTheCaseDoNotDecide) {
  Case c = legal_case();
  c.inputs[0].name = "other";
  EXPECT_TRUE(violations(two_inputs(), c).empty());
  c.inputs[1].sizes[0] = 5;
  EXPECT_FALSE(violations(two_inputs(), c).empty());
}

TEST(Contract, OtherStridesAreAViolationWithoutConcreteSizes) {
  Case c = legal_case();
  c.inputs[0].strides = {{20, 4, 1}};  // a row gap
  const std::vector<Violation> found = violations(two_inputs(), c);
  ASSERT_EQ(texts(found), std::vector<std::string>{"x: strides as exported (dense)"});
  EXPECT_EQ(found[0].kind, Condition::Kind::kStride);
  EXPECT_EQ(found[0].input, 0);
}

TEST(Contract, TransposedExportIsDenseInItsOwnOrder) {
  Contract contract;
  InputSpec x;  // f32[s0, 16] with strides (1, s0)
  x.name = "x";
  x.sizes = {sym("s0"), num(16)};
  x.strides = {num(1), sym("s0")};
  contract.inputs = {x};
  contract.symbols = {{"s0", "x.size(0)"}};
  const Expr fixed = op(ExprOp::kEq, {sym("x.size(1)"), num(16)});
  contract.conditions.push_back({Condition::Kind::kSize, 0, fixed, fixed.text()});
  Case c;
  c.inputs.resize(1);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {5, 16};
  c.inputs[0].strides = {{1, 5}};
  EXPECT_TRUE(violations(contract, c).empty());
  c.inputs[0].strides.reset();
  EXPECT_EQ(texts(violations(contract, c)), std::vector<std::string>{"x: strides as exported (1, x.size(0))"});
  c.inputs[0].sizes = {5, 17};
  c.inputs[0].strides = {{1, 5}};
  EXPECT_EQ(texts(violations(contract, c)), std::vector<std::string>{"x.size(1) == 16"});
  c.inputs[0].strides = {{1, 6}};
  EXPECT_EQ(violations(contract, c).size(), 2u);
}

TEST(Contract, StridesOfSizeOneAndOfEmptyTensorsNeverCount) {
  Case c = legal_case();
  c.inputs[0].sizes = {1, 3, 4};
  c.inputs[1].sizes = {1, 3};
  c.inputs[0].strides = {{999, 4, 1}};
  EXPECT_TRUE(violations(two_inputs(), c).empty());
  c = legal_case();
  c.inputs[0].sizes = {2, 0, 4};
  c.inputs[1].sizes = {2, 0};
  c.inputs[0].strides = {{7, 7, 7}};
  EXPECT_TRUE(violations(two_inputs(), c).empty());
}

TEST(Contract, OffsetAndAlignmentAreInside) {
  Case c = legal_case();
  c.inputs[0].offset = 3;
  c.inputs[0].misalign_bytes = 1;
  EXPECT_TRUE(violations(two_inputs(), c).empty());
}

TEST(Contract, KindDtypeRankScalarAndZeroTensorAreChecked) {
  const auto one = [](auto change) {
    Case c = legal_case();
    change(c);
    const std::vector<Violation> found = violations(two_inputs(), c);
    return found.size() == 1 ? std::optional(found[0].kind) : std::nullopt;
  };
  EXPECT_EQ(one([](Case& c) { c.inputs[0].dtype = Dtype::kF64; }), Condition::Kind::kDtype);
  EXPECT_EQ(one([](Case& c) { c.inputs[0].zero_tensor = true; }), Condition::Kind::kZeroTensor);
  EXPECT_EQ(one([](Case& c) { c.inputs[2].scalar = int64_t{4}; }), Condition::Kind::kScalar);
  EXPECT_EQ(one([](Case& c) { c.inputs[2].kind = CaseInput::Kind::kFloat; }), Condition::Kind::kKind);
  EXPECT_EQ(one([](Case& c) { c.inputs.pop_back(); }), Condition::Kind::kKind);
  EXPECT_EQ(one([](Case& c) { c.inputs[0].sizes = {2, 3, 4, 1}; }), Condition::Kind::kRank);
}

TEST(Contract, SharedMemoryIsAViolationAndSharedStorageIsNot) {
  Contract contract;
  InputSpec x;
  x.name = "x";
  x.sizes = {sym("s0")};
  x.strides = {num(1)};
  InputSpec y = x;
  y.name = "y";
  contract.inputs = {x, y};
  contract.symbols = {{"s0", "x.size(0)"}};
  Case c;
  c.inputs.resize(2);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {4};
  c.inputs[1].name = "y";
  c.inputs[1].sizes = {4};
  c.inputs[1].storage_of = "x";
  c.inputs[1].offset = 2;
  const std::vector<Violation> found = violations(contract, c);
  ASSERT_EQ(texts(found), std::vector<std::string>{"y: shares no memory with x"});
  EXPECT_EQ(found[0].kind, Condition::Kind::kOverlap);
  c.inputs[1].offset = 4;
  EXPECT_TRUE(violations(contract, c).empty());
}

TEST(Contract, InterleavedViewsShareNoMemory) {
  Contract contract;
  InputSpec x;
  x.name = "x";
  x.sizes = {num(3)};
  x.strides = {num(2)};
  InputSpec y = x;
  y.name = "y";
  contract.inputs = {x, y};
  Case c;
  c.inputs.resize(2);
  for (int k = 0; k < 2; ++k) {
    c.inputs[k].name = k == 0 ? "x" : "y";
    c.inputs[k].sizes = {3};
    c.inputs[k].strides = {{2}};
    c.inputs[k].offset = k;
  }
  c.inputs[1].storage_of = "x";
  EXPECT_TRUE(violations(contract, c).empty());
  c.inputs[1].offset = 2;
  EXPECT_EQ(violations(contract, c).size(), 1u);
}

TEST(Contract, FreeStrideMayVaryButNotOverlap) {
  Contract contract;
  InputSpec x;
  x.name = "x";
  x.sizes = {sym("s0"), num(3)};
  x.strides = {sym("s9"), num(1)};
  contract.inputs = {x};
  contract.symbols = {{"s0", "x.size(0)"}, {"s9", "x.stride(0)"}};
  Case c;
  c.inputs.resize(1);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {4, 3};
  c.inputs[0].strides = {{7, 1}};
  EXPECT_TRUE(violations(contract, c).empty());
  c.inputs[0].strides = {{2, 1}};
  EXPECT_EQ(texts(violations(contract, c)), std::vector<std::string>{"x: no two elements share memory"});
  c.inputs[0].strides = {{0, 1}};
  EXPECT_EQ(violations(contract, c).size(), 1u);
}

TEST(Contract, DerivedDimensionSolvesItsHiddenSymbol) {
  Contract contract;
  InputSpec x;  // f32[2*s, 2*s + 1], strides (2*s + 1, 1)
  x.name = "x";
  const Expr twice = op(ExprOp::kMul, {num(2), sym("s")});
  const Expr odd = op(ExprOp::kAdd, {twice, num(1)});
  x.sizes = {twice, odd};
  x.strides = {odd, num(1)};
  contract.inputs = {x};
  contract.symbols = {{"s", ""}};
  Case c;
  c.inputs.resize(1);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {6, 7};
  EXPECT_TRUE(violations(contract, c).empty());
  c.inputs[0].strides = {{8, 1}};
  EXPECT_EQ(violations(contract, c).size(), 1u);
}

TEST(Contract, DivisionByZeroInAGuardIsARefusal) {
  Contract contract = two_inputs();
  const Expr guard = op(ExprOp::kEq, {op(ExprOp::kMod, {num(12), sym("x.size(0)")}), num(0)});
  contract.conditions.push_back({Condition::Kind::kGuard, 0, guard, guard.text()});
  Case c = legal_case();
  EXPECT_TRUE(violations(contract, c).empty());
  c.inputs[0].sizes[0] = c.inputs[1].sizes[0] = 0;
  EXPECT_EQ(texts(violations(contract, c)), std::vector<std::string>{"12 % x.size(0) == 0"});
}

TEST(Contract, OpaqueConditionsAreNotChecked) {
  Contract contract = two_inputs();
  const Expr guard = op(ExprOp::kGt, {Expr::opaque("f(x)"), num(0)});
  contract.conditions.push_back({Condition::Kind::kGuard, -1, guard, guard.text()});
  EXPECT_TRUE(violations(contract, legal_case()).empty());
}

TEST(Violations, OneInputMoreOrFewerIsOneViolation) {
  Case more = legal_case();
  more.inputs.push_back(more.inputs[0]);
  more.inputs.back().surplus = true;
  ASSERT_EQ(violations(two_inputs(), more).size(), 1u);
  EXPECT_EQ(violations(two_inputs(), more)[0].text, "number of inputs as exported");
  EXPECT_EQ(violations(two_inputs(), more)[0].detail, "4 given, 3 declared");
  EXPECT_EQ(more.surplus_inputs(), 1u);
  Case fewer = legal_case();
  fewer.inputs[1] = {};
  fewer.inputs[1].kind = CaseInput::Kind::kNone;
  EXPECT_EQ(texts(violations(two_inputs(), fewer)), (std::vector<std::string>{"i: a tensor, not None"}));
}

TEST(Violations, AnInputOnTheOtherKindOfDeviceIsNamed) {
  Contract contract = two_inputs();
  Case c = legal_case();
  c.inputs[1].place = CasePlace::kHost;
  EXPECT_TRUE(violations(contract, c).empty()) << "the CPU is where it belongs";
  c.inputs[1].place = CasePlace::kDevice;
  ASSERT_EQ(violations(contract, c).size(), 1u);
  EXPECT_EQ(violations(contract, c)[0].kind, Condition::Kind::kDevice);
  EXPECT_EQ(violations(contract, c)[0].text, "i.device.type == cpu");
  EXPECT_EQ(violations(contract, c)[0].detail, "cuda given");
  contract.inputs[1].device = "cuda:3";
  EXPECT_TRUE(violations(contract, c).empty()) << "the index is the caller's choice";
}

}  // namespace
}  // namespace aotifuzz
