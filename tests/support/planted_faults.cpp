#include "tests/support/planted_faults.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace aotifuzz::testing {

Scenario make_scenario() {
  // Fixed numbers: 0.37 i mod 2.1 has no ties, no small integers and both signs.
  const at::Tensor x = at::arange(35, at::kDouble).mul(0.37).remainder(2.1).sub(0.9).to(at::kFloat).view({5, 7});
  x[4][6] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor n = at::arange(10, 15, at::kLong);
  const at::Tensor m = at::arange(4, at::kFloat).mul(0.3f);
  using P = TinyProgram;
  P program;
  program.input("x", x);
  program.input("n", n);
  program.input("m", m);
  // The NaN must not reach every output: sums and maxima run over a clean part.
  const std::string clean = program.call1("aten.nan_to_num.default", {{"self", P::value("x")}});
  const std::string third = program.call1("aten.div.Tensor", {{"self", P::value(clean)}, {"other", P::number(3.0)}});
  const std::string sums = program.call1("aten.sum.dim_IntList", {{"self", P::value(third)}, {"dim", P::numbers({1})}});
  const auto maxima = program.call("aten.max.dim", {{"self", P::value(third)}, {"dim", P::number(int64_t{1})}});
  const std::string plus =
      program.call1("aten.add.Tensor", {{"self", P::value("x")}, {"other", P::number(int64_t{1})}});
  const std::string mask = program.call1("aten.gt.Scalar", {{"self", P::value("x")}, {"other", P::number(0.0)}});
  const std::string counts =
      program.call1("aten.add.Tensor", {{"self", P::value("n")}, {"other", P::number(int64_t{1})}});
  const std::string narrow =
      program.call1("aten.to.dtype", {{"self", P::value(clean)}, {"dtype", P::dtype(Dtype::kBF16)}});
  const std::string chain = program.call1("aten.mul.Tensor", {{"self", P::value(narrow)}, {"other", P::number(1.7)}});
  const std::string end = program.call1("aten.sin.default", {{"self", P::value(chain)}});
  program.call("aten.add_.Tensor", {{"self", P::value("m")}, {"other", P::number(int64_t{1})}});
  for (const std::string& name : {sums, maxima[0], maxima[1], plus, mask, counts, end}) program.output(name);
  return Scenario(std::move(program), {x, n, m});
}

namespace {

/// Element of an output as a view that can be written.
at::Tensor element(RunRecord& record, size_t output, int64_t i) { return record.outputs.at(output).view({-1})[i]; }

constexpr PlantedFault kFaults[] = {
    {"sign flip", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 3, 8).neg_(); }},
    {"sign flip in a sum", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 0, 2).neg_(); }},
    {"some ulps past the bound, elementwise", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 3, 8).mul_(1 + 24 * 0x1p-24); }},
    {"past the bound, reduction", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 0, 2).mul_(1 + 4096 * 0x1p-24); }},
    {"past the bound, bfloat16", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 6, 4).mul_(1.25); }},
    {"NaN for a number", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 3, 8).fill_(std::numeric_limits<double>::quiet_NaN()); }},
    {"number for a NaN", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 3, 34).fill_(1.0); }},
    {"infinity for a number", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 0, 1).fill_(std::numeric_limits<double>::infinity()); }},
    {"swapped outputs", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { std::swap(r.outputs[0], r.outputs[1]); }},
    {"stale output", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { r.outputs[3] = r.outputs[3].roll({1}, {0}).clone(); }},
    {"zeroed tail row", "close", VerdictClass::kWrongResult, [](RunRecord& r) { r.outputs[3].select(0, 3).zero_(); }},
    {"truth value flipped", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 4, 3).logical_not_(); }},
    {"integer off by one", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 5, 3).add_(1); }},
    {"right numel, wrong shape", "metadata", VerdictClass::kWrongMetadata,
     [](RunRecord& r) {
       r.outputs[3] = r.outputs[3].view({7, 5});
     }},
    {"wrong dtype", "metadata", VerdictClass::kWrongMetadata,
     [](RunRecord& r) { r.outputs[5] = r.outputs[5].to(at::kInt); }},
    {"an output too few", "metadata", VerdictClass::kWrongMetadata, [](RunRecord& r) { r.outputs.pop_back(); }},
    {"index off by one", "close", VerdictClass::kWrongResult,
     [](RunRecord& r) { element(r, 2, 3).add_(1).remainder_(7); }, true},
    {"index out of range", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 2, 3).fill_(7); }, true},
    {"negative index", "close", VerdictClass::kWrongResult, [](RunRecord& r) { element(r, 2, 3).sub_(7); }, true},
    {"output shares an input's memory", "metadata", VerdictClass::kWrongMetadata,
     [](RunRecord& r) {
       r.inputs_after[0].copy_(r.inputs_after[0]);
       r.outputs[3] = r.inputs_after[0];
     },
     true},
    {"input written", "unchanged_inputs", VerdictClass::kInputChanged,
     [](RunRecord& r) { r.inputs_after[0][2][2].add_(1e-3); }, true},
    {"input written with another zero", "unchanged_inputs", VerdictClass::kInputChanged,
     [](RunRecord& r) { r.inputs_after[1][2].fill_(0); }, true},
    {"written input left as it was", "unchanged_inputs", VerdictClass::kInputChanged,
     [](RunRecord& r) { r.inputs_after[2].sub_(1); }, true},
    {"package refuses", "rejection", VerdictClass::kRejectsLegal,
     [](RunRecord& r) {
       r.outcome.kind = OutcomeKind::kRejected;
       r.outcome.message = "input_handles[0]: dim value is too small at 1, expected it to be >= 2, but got: 1";
     },
     true},
};

}  // namespace

std::span<const PlantedFault> planted_faults() { return kFaults; }

}  // namespace aotifuzz::testing
