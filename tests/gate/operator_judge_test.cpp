#include "gate/operator_judge.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <cstdlib>

#include "tests/gate/own_process.h"

namespace aotifuzz {
namespace {

using test::in_own_process;

using at::Tensor;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tensor same(const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); }
Tensor same_meta(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }
Tensor longer_meta(const Tensor& x) { return x.new_empty_symint({x.sym_size(0) + 1, x.sym_size(1)}); }
Tensor fixed_meta(const Tensor& x) { return at::empty(x.sizes(), x.options()); }
Tensor pick(const Tensor& x, const Tensor& rows) {
  TORCH_CHECK(rows.scalar_type() == at::kLong && x.dim() == 2 && x.is_floating_point(), "x[B,D] and rows[N]");
  return at::index_select(x, 0, rows);
}
Tensor pick_meta(const Tensor& x, const Tensor& rows) { return x.new_empty_symint({rows.sym_size(0), x.sym_size(1)}); }
Tensor even(const Tensor& x) {
  TORCH_CHECK(x.size(0) % 2 == 1, "an odd number of rows");
  return same(x);
}

TORCH_LIBRARY(operator_judge_test, m) {
  m.def("right(Tensor x) -> Tensor");
  m.def("longer(Tensor x) -> Tensor");
  m.def("fixed(Tensor x) -> Tensor");
  m.def("even(Tensor x) -> Tensor");
  m.def("pick(Tensor x, Tensor rows) -> Tensor");
  m.def("no_meta(Tensor x) -> Tensor");
  m.def("unknown(Tensor x, Generator g) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", same);
}
TORCH_LIBRARY_IMPL(operator_judge_test, CPU, m) {
  for (const char* name : {"right", "longer", "fixed", "no_meta"}) m.impl(name, same);
  m.impl("even", even);
  m.impl("pick", pick);
}
TORCH_LIBRARY_IMPL(operator_judge_test, Meta, m) {
  m.impl("right", same_meta);
  m.impl("longer", longer_meta);
  m.impl("fixed", fixed_meta);
  m.impl("even", same_meta);
  m.impl("pick", pick_meta);
}

c10::OperatorHandle op(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(("operator_judge_test::" + name).c_str(), "");
}

OperatorSpec spec_of(const std::string& text, bool is_call) {
  auto parsed = parse_op_spec("operator_judge_test::x " + text, "test");
  EXPECT_TRUE(parsed);
  OperatorSpec out = parsed->begin()->second.front();
  out.is_call = is_call;
  return out;
}

/// For a process of its own.
GateOperator judge(const std::string& name, const OperatorSpec* spec = nullptr) {
  static GateCrumb crumb;
  GateOperator all;
  KernelMemory memory(GuardAllocator::install());
  OperatorJudge(op(name), spec, kernels_of(op(name), false), {}, memory, &crumb, -1, [&](GateOperator part) {
    all.merge(std::move(part));
  }).run({});
  return all;
}

std::vector<std::string> kinds(const GateOperator& result, bool preconditions = false) {
  std::vector<std::string> out;
  for (const GateFinding& finding : result.findings)
    if (finding.precondition == preconditions) out.push_back(finding.kind);
  return out;
}

TEST(OperatorJudge, KnowsWhichKernelsThereAre) {
  EXPECT_TRUE(kernels_of(op("right"), false).meta && kernels_of(op("right"), false).kernel);
  const OperatorKernels none = kernels_of(op("no_meta"), false);
  EXPECT_FALSE(none.meta);
  EXPECT_EQ(none.why_no_meta, "") << "nothing explains it";
  EXPECT_THAT(kernels_of(op("no_meta"), true).why_no_meta, HasSubstr("--fakes"));
  EXPECT_FALSE(kernels_of(op("right"), false, c10::DispatchKey::CUDA).kernel);
  EXPECT_TRUE(kernels_of(op("composite"), false, c10::DispatchKey::CUDA).kernel);
  const OperatorKernels composite = kernels_of(op("composite"), false);
  EXPECT_TRUE(composite.meta && composite.kernel && composite.decomposed);
}

TEST(OperatorJudgeDeathTest, ARightOperatorIsThroughWithoutFindings) {
  in_own_process([] {
    const GateOperator result = judge("right");
    EXPECT_TRUE(result.is_through());
    EXPECT_EQ(result.not_judged, "");
    EXPECT_THAT(kinds(result), IsEmpty());
    EXPECT_GT(result.points, 40);
    EXPECT_EQ(result.expressions.at("0 contiguous output 0"), "[s0, s1]");
  });
}

TEST(OperatorJudgeDeathTest, WrongMetasAreFound) {
  in_own_process([] { EXPECT_THAT(kinds(judge("longer")), Each("meta-wrong-size")); });
  in_own_process([] { EXPECT_THAT(kinds(judge("longer")), Contains("meta-wrong-size")); });
  in_own_process([] { EXPECT_THAT(kinds(judge("fixed")), Contains("meta-specialises")); });
}

TEST(OperatorJudgeDeathTest, WhatCannotBeDrawnIsNotJudged) {
  in_own_process([] { EXPECT_THAT(judge("unknown").not_judged, HasSubstr("argument g")); });
  in_own_process([] {
    const OperatorSpec spec = spec_of("x=f32[B,D] B<=3 (B > 3)", false);
    EXPECT_THAT(judge("right", &spec).not_judged, HasSubstr("meet the conditions"));
  });
}

/// A refusal is a precondition by default and a fault where a spec or a call says that the sizes are legal.
TEST(OperatorJudgeDeathTest, WhoSaysThatSizesAreLegalDecidesWhatARefusalIs) {
  in_own_process([] {
    const GateOperator by_default = judge("even");
    EXPECT_THAT(kinds(by_default), IsEmpty());
    EXPECT_THAT(kinds(by_default, true), Contains("one-sided-error"));
  });
  for (const bool is_call : {false, true})
    in_own_process([&] {
      const OperatorSpec spec = spec_of("x=f32[B,D]", is_call);
      EXPECT_THAT(kinds(judge("even", &spec)), Contains("one-sided-error")) << is_call;
    });
}

/// The integers of a call are nobody's word: zeros are tried, and a refusal stays a precondition.
TEST(OperatorJudgeDeathTest, IntegersOfACallAreNotTakenForLegal) {
  in_own_process([] {
    const OperatorSpec spec = spec_of("x=f32[B,D] rows=i64[N]", false);
    EXPECT_THAT(kinds(judge("pick", &spec)), Contains("one-sided-error"));
  });
  in_own_process([] {
    const OperatorSpec call = spec_of("x=f32[B,D] rows=i64[N]", true);
    const GateOperator result = judge("pick", &call);
    EXPECT_THAT(kinds(result), IsEmpty());
    EXPECT_THAT(kinds(result, true), Each("one-sided-error")) << "no row 0 where there is no row";
    EXPECT_THAT(result.notes, Contains(HasSubstr("hold zeros")));
    EXPECT_GT(result.points, result.refused);
  });
}

}  // namespace
}  // namespace aotifuzz
