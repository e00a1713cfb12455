#include "gate/aten_reduction_rules.h"

#include <ATen/ATen.h>

#include "gate/symbolic_tensor.h"

namespace aotifuzz {
namespace {

SymSizes without(const at::Tensor& tensor, const std::vector<bool>& reduced, bool keep) {
  SymSizes out;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (!reduced[d])
      out.push_back(tensor.sym_size(d));
    else if (keep)
      out.push_back(1);
  }
  return out;
}

at::ScalarType sum_dtype(const at::Tensor& tensor, std::optional<at::ScalarType> asked) {
  if (asked) return *asked;
  return c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true) ? at::kLong : tensor.scalar_type();
}

bool sum_all_rule(AtenCall& call) { return call.returns_dense({}, sum_dtype(call.tensor(0), call.dtype(1))); }
bool sum_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(without(x, call.reduced(1, x.dim()), call.truth(2)), sum_dtype(x, call.dtype(3)));
}
bool mean_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(without(x, call.reduced(1, x.dim()), call.truth(2)),
                            call.dtype(3).value_or(x.scalar_type()));
}
bool extreme_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(without(x, call.reduced(1, x.dim()), call.truth(2)), x.scalar_type());
}
bool position_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(without(x, call.reduced(1, x.dim()), call.truth(2)), at::kLong);
}
bool extreme_with_position_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  const SymSizes out = without(x, call.reduced(1, x.dim()), call.truth(2));
  return call.returns({SymbolicTensor::make_dense(out, x.scalar_type()), SymbolicTensor::make_dense(out, at::kLong)});
}
bool truth_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(without(x, call.reduced(1, x.dim()), call.truth(2)), at::kBool);
}

bool cumulative_sum_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(x.sym_sizes().vec(), sum_dtype(x, call.dtype(2)));
}
}  // namespace

AtenRuleTable aten_reduction_rules() {
  return {
      {"aten::sum", sum_all_rule},
      {"aten::sum.dim_IntList", sum_rule},
      {"aten::mean.dim", mean_rule},
      {"aten::amax", extreme_rule},
      {"aten::amin", extreme_rule},
      {"aten::argmax", position_rule},
      {"aten::argmin", position_rule},
      {"aten::max.dim", extreme_with_position_rule},
      {"aten::min.dim", extreme_with_position_rule},
      {"aten::any.dim", truth_rule},
      {"aten::all.dim", truth_rule},
      {"aten::cumsum", cumulative_sum_rule},
      {"aten::cumprod", cumulative_sum_rule},
  };
}

}  // namespace aotifuzz
