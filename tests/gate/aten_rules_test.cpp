// What the rules say of symbolic sizes against what ATen itself makes of plain ones.
#include "gate/aten_rules.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "gate/symbolic_run.h"
#include "gate/symbolic_tensor.h"
#include "gate/tensor_facts.h"

namespace aotifuzz {
namespace {

using at::Tensor;
using Call = std::function<std::vector<Tensor>(const Tensor&, const Tensor&)>;

const std::vector<std::string> kNames = {"a", "b"};
const SymbolValues kLeast = {0, 0};

Tensor symbolic(int first, int second) {
  std::vector<c10::SymInt> sizes = {SizeExpr::symbol(first)->as_sym_int(), SizeExpr::symbol(second)->as_sym_int()};
  return SymbolicTensor::make(sizes, SymbolicTensor::dense_strides(sizes), 0, at::kFloat, "x");
}

/// By rule that it is about; x is [a, b], w is [b, a].
const std::map<std::string, Call>& calls() {
  static const std::map<std::string, Call> table = {
      {"aten::mm", [](const Tensor& x, const Tensor& w) { return std::vector{at::mm(x, w)}; }},
      {"aten::matmul", [](const Tensor& x, const Tensor& w) { return std::vector{at::matmul(x, w)}; }},
      {"aten::addmm", [](const Tensor& x, const Tensor& w) { return std::vector{at::addmm(at::mm(x, w), x, w)}; }},
      {"aten::linear", [](const Tensor& x, const Tensor&) { return std::vector{at::linear(x, x)}; }},
      {"aten::bmm",
       [](const Tensor& x, const Tensor& w) { return std::vector{at::bmm(x.unsqueeze(0), w.unsqueeze(0))}; }},
      {"aten::view", [](const Tensor& x, const Tensor&) { return std::vector{x.view({-1})}; }},
      {"aten::reshape",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.reshape({1, -1})};
       }},
      {"aten::_unsafe_view", [](const Tensor& x, const Tensor&) { return std::vector{at::_unsafe_view(x, {-1})}; }},
      {"aten::flatten.using_ints", [](const Tensor& x, const Tensor&) { return std::vector{x.flatten()}; }},
      {"aten::cat",
       [](const Tensor& x, const Tensor& w) {
         return std::vector{at::cat({x, w.t()}, -1)};
       }},
      {"aten::stack",
       [](const Tensor& x, const Tensor&) {
         return std::vector{at::stack({x, x}, 1)};
       }},
      {"aten::expand",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.unsqueeze(0).expand({3, -1, -1})};
       }},
      {"aten::sum", [](const Tensor& x, const Tensor&) { return std::vector{x.sum()}; }},
      {"aten::sum.dim_IntList", [](const Tensor& x, const Tensor&) { return std::vector{x.sum({1}, true)}; }},
      {"aten::mean.dim", [](const Tensor& x, const Tensor&) { return std::vector{x.mean({0})}; }},
      {"aten::amax", [](const Tensor& x, const Tensor&) { return std::vector{x.amax({-1})}; }},
      {"aten::amin", [](const Tensor& x, const Tensor&) { return std::vector{x.amin({0}, true)}; }},
      {"aten::argmax", [](const Tensor& x, const Tensor&) { return std::vector{x.argmax(1)}; }},
      {"aten::argmin", [](const Tensor& x, const Tensor&) { return std::vector{x.argmin(0, true)}; }},
      {"aten::max.dim",
       [](const Tensor& x, const Tensor&) {
         auto [v, i] = x.max(1);
         return std::vector{v, i};
       }},
      {"aten::min.dim",
       [](const Tensor& x, const Tensor&) {
         auto [v, i] = x.min(0, true);
         return std::vector{v, i};
       }},
      {"aten::any.dim", [](const Tensor& x, const Tensor&) { return std::vector{x.any(1)}; }},
      {"aten::all.dim", [](const Tensor& x, const Tensor&) { return std::vector{x.all(0)}; }},
      {"aten::softmax.int", [](const Tensor& x, const Tensor&) { return std::vector{at::softmax(x, -1)}; }},
      {"aten::log_softmax.int",
       [](const Tensor& x, const Tensor&) { return std::vector{at::log_softmax(x, 0, at::kDouble)}; }},
      {"aten::_softmax", [](const Tensor& x, const Tensor&) { return std::vector{at::_softmax(x, 1, false)}; }},
      {"aten::_log_softmax", [](const Tensor& x, const Tensor&) { return std::vector{at::_log_softmax(x, 1, false)}; }},
      {"aten::cumsum", [](const Tensor& x, const Tensor&) { return std::vector{x.cumsum(0)}; }},
      {"aten::cumprod", [](const Tensor& x, const Tensor&) { return std::vector{x.cumprod(1)}; }},
      {"aten::sort",
       [](const Tensor& x, const Tensor&) {
         auto [v, i] = x.sort(1);
         return std::vector{v, i};
       }},
      {"aten::topk",
       [](const Tensor& x, const Tensor&) {
         auto [v, i] = x.topk(3, 1);
         return std::vector{v, i};
       }},
      {"aten::slice.Tensor",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.slice(1, 1, -1, 2), x.slice(0, -3), x.slice(0, 2, 100)};
       }},
      {"aten::narrow", [](const Tensor& x, const Tensor&) { return std::vector{x.narrow(0, 1, 2)}; }},
      {"aten::permute",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.permute({1, 0})};
       }},
      {"aten::index_select",
       [](const Tensor& x, const Tensor&) {
         return std::vector{at::index_select(x, 1, x.select(0, 0).to(at::kLong).mul(0))};
       }},
      {"aten::gather",
       [](const Tensor& x, const Tensor&) { return std::vector{at::gather(x, 1, x.to(at::kLong).mul(0))}; }},
      {"aten::embedding",
       [](const Tensor& x, const Tensor&) { return std::vector{at::embedding(x, x.to(at::kLong).mul(0))}; }},
      {"aten::repeat",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.repeat({2, 1, 3})};
       }},
      {"aten::constant_pad_nd",
       [](const Tensor& x, const Tensor&) {
         return std::vector{at::constant_pad_nd(x, {1, 2, 0, 3})};
       }},
      {"aten::full",
       [](const Tensor& x, const Tensor&) { return std::vector{at::full_symint({x.sym_size(0)}, 1.5, x.options())}; }},
      {"aten::ones",
       [](const Tensor& x, const Tensor&) {
         return std::vector{at::ones_symint({x.sym_size(1), 2}, x.options())};
       }},
      {"aten::new_zeros",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.new_zeros_symint({x.sym_size(1)}, at::TensorOptions().dtype(at::kHalf))};
       }},
      {"aten::new_ones",
       [](const Tensor& x, const Tensor&) { return std::vector{x.new_ones_symint({x.sym_size(1)})}; }},
      {"aten::new_full",
       [](const Tensor& x, const Tensor&) { return std::vector{x.new_full_symint({x.sym_size(0)}, 2)}; }},
      {"aten::arange",
       [](const Tensor& x, const Tensor&) { return std::vector{at::arange(x.sym_size(0), x.options())}; }},
      {"aten::arange.start",
       [](const Tensor& x, const Tensor&) { return std::vector{at::arange(2, x.sym_size(1), x.options())}; }},
      {"aten::to.dtype",
       [](const Tensor& x, const Tensor&) {
         return std::vector{x.to(at::kHalf), x.to(at::kFloat)};
       }},
      {"aten::_to_copy",
       [](const Tensor& x, const Tensor&) {
         return std::vector{at::_to_copy(x, at::TensorOptions().dtype(at::kLong))};
       }},
      {"aten::split_with_sizes",
       [](const Tensor& x, const Tensor&) {
         return x.split_with_sizes_symint({x.sym_size(0) - 1, 1}, 0);
       }},
      {"aten::empty_like",
       [](const Tensor& x, const Tensor& w) {
         return std::vector{at::empty_like(x), at::empty_like(w.t())};
       }},
      {"aten::zeros_like",
       [](const Tensor& x, const Tensor& w) {
         return std::vector{at::zeros_like(w.t(), x.options().dtype(at::kHalf))};
       }},
      {"aten::ones_like",
       [](const Tensor& x, const Tensor&) { return std::vector{at::ones_like(x.slice(1, 0, 4, 2))}; }},
      {"aten::full_like", [](const Tensor& x, const Tensor&) { return std::vector{at::full_like(x, 2)}; }},
      {"aten::rand_like", [](const Tensor& x, const Tensor&) { return std::vector{at::rand_like(x)}; }},
      {"aten::randn_like", [](const Tensor& x, const Tensor&) { return std::vector{at::randn_like(x.t())}; }},
      {"pointwise",
       [](const Tensor& x, const Tensor& w) {
         return std::vector{x + w.t(), x.relu(), at::gelu(x), x.gt(0), x * x.select(0, 0)};
       }},
  };
  return table;
}

TEST(AtenRules, SizesAndStridesAreThoseThatAtenMakes) {
  const SymbolValues values = {7, 11};
  for (const auto& [name, call] : calls()) {
    const auto expected = call(at::ones({7, 11}), at::ones({11, 7}));
    SymbolicRun run(values, kLeast, kNames);
    const AtenRules::Scope rules;
    std::vector<Tensor> actual;
    try {
      actual = call(symbolic(0, 1), symbolic(1, 0));
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": " << error.what();
      continue;
    }
    EXPECT_EQ(run.unruled(), "") << name;
    for (const SizeEvent& event : run.events())
      EXPECT_NE(event.kind, SizeEvent::Kind::kNumber) << name << " asks for " << event.call << " in " << event.aten;
    const SymbolicRun::Pause pause;
    std::vector<TensorFacts> a, e;
    for (const Tensor& tensor : actual) a.push_back(TensorFacts::of(tensor, {}));
    for (const Tensor& tensor : expected) e.push_back(TensorFacts::of(tensor, {}));
    for (const FactsDifference& difference : compare_facts(a, e, values, {}))
      ADD_FAILURE() << name << ": " << difference.message << ": rule " << difference.meta << ", ATen "
                    << difference.kernel;
  }
}

TEST(AtenRules, EveryRuleIsCalledByTheTest) {
  for (const std::string& name : AtenRules::names()) EXPECT_TRUE(calls().count(name)) << name;
}

TEST(AtenRules, AnOperatorWithoutARuleIsNamed) {
  const SymbolValues values = {7, 11};
  SymbolicRun run(values, kLeast, kNames);
  const AtenRules::Scope rules;
  try {
    at::trace(symbolic(0, 1));
  } catch (const std::exception&) {
  }
  EXPECT_EQ(run.unruled(), "aten::trace");
}

}  // namespace
}  // namespace aotifuzz
