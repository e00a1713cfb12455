#include "tests/support/contracts.h"

#include "core/check.h"

namespace aotifuzz::support {

Expr size_of(const std::string& input, int dim) { return Expr::symbol(input + ".size(" + std::to_string(dim) + ")"); }
Expr number(int64_t value) { return Expr::integer(value); }
Expr times(Expr x, Expr y) { return Expr::make(ExprOp::kMul, {std::move(x), std::move(y)}); }

Expr ContractMaker::symbol(const std::string& name, int64_t min, int64_t max) {
  SymbolSpec spec;
  spec.name = name;
  spec.min = min;
  if (max > 0) spec.max = max;
  contract_.symbols.push_back(spec);
  return Expr::symbol(name);
}

SymbolSpec* ContractMaker::find(const std::string& name) {
  for (SymbolSpec& symbol : contract_.symbols)
    if (symbol.name == name) return &symbol;
  return nullptr;
}

void ContractMaker::condition(Condition::Kind kind, int input, Expr expr) {
  Condition made{kind, input, expr, expr.text()};
  contract_.conditions.push_back(std::move(made));
}

ContractMaker& ContractMaker::tensor(const std::string& name, Dtype dtype, std::vector<Expr> sizes,
                                     std::vector<Expr> strides) {
  const int index = static_cast<int>(contract_.inputs.size());
  InputSpec spec;
  spec.name = name;
  spec.dtype = dtype;
  if (strides.empty()) {
    strides.assign(sizes.size(), number(1));
    for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = times(sizes[d], strides[d]);
  }
  const auto over_dimensions = [this](const Expr& expr) {
    return expr.substitute([this](const std::string& symbol) -> std::optional<Expr> {
      const SymbolSpec* known = find(symbol);
      return known != nullptr && !known->dim.empty() ? std::optional(Expr::symbol(known->dim)) : std::nullopt;
    });
  };
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Expr dim = size_of(name, static_cast<int>(d));
    SymbolSpec* stated = sizes[d].op() == ExprOp::kSymbol ? find(sizes[d].name()) : nullptr;
    if (stated != nullptr && stated->dim.empty()) {
      stated->dim = dim.name();
      if (stated->min > 0)
        condition(Condition::Kind::kRange, index, Expr::make(ExprOp::kGe, {dim, number(stated->min)}));
      if (stated->max) condition(Condition::Kind::kRange, index, Expr::make(ExprOp::kLe, {dim, number(*stated->max)}));
      continue;
    }
    const Expr fixed = over_dimensions(sizes[d]);
    if (!fixed.has_opaque() && (stated != nullptr || fixed.is_constant() || !(fixed == sizes[d])))
      condition(Condition::Kind::kSize, index, Expr::make(ExprOp::kEq, {dim, fixed}));
  }
  spec.sizes = std::move(sizes);
  spec.strides = std::move(strides);
  contract_.inputs.push_back(std::move(spec));
  return *this;
}

ContractMaker& ContractMaker::role(ValueRole::Kind kind, std::optional<Expr> bound) {
  contract_.inputs.back().role = {kind, std::move(bound), "aten.test.default"};
  return *this;
}

ContractMaker& ContractMaker::scalar(const std::string& name, CaseInput::Kind kind, Number constant, bool is_constant) {
  InputSpec spec;
  spec.name = name;
  spec.kind = kind;
  spec.constant = constant;
  spec.is_constant = is_constant;
  contract_.inputs.push_back(std::move(spec));
  return *this;
}

ContractMaker& ContractMaker::guard(Expr expr) {
  condition(Condition::Kind::kGuard, -1, std::move(expr));
  return *this;
}

namespace {

std::vector<NamedContract> make_samples() {
  std::vector<NamedContract> samples;
  const auto add = [&](std::string name, ContractMaker& maker) {
    samples.push_back({std::move(name), maker.contract()});
  };
  {
    ContractMaker m;
    add("static", m.tensor("x", Dtype::kF32, {number(3), number(5)}).tensor("y", Dtype::kF64, {}));
  }
  {
    ContractMaker m;
    const Expr b = m.symbol("s0");
    add("dynamic-batch", m.tensor("x", Dtype::kF32, {b, number(36), number(4), number(4)}));
  }
  {
    ContractMaker m;
    const Expr b = m.symbol("s0", 1, 64), t = m.symbol("s1", 1, 512);
    add("equal-sizes", m.tensor("x", Dtype::kF32, {b, t, number(4)})
                           .tensor("i", Dtype::kI64, {b, t})
                           .role(ValueRole::Kind::kIndex, number(10)));
  }
  {
    ContractMaker m;
    const Expr s = m.symbol("s0", 0, 100);
    m.tensor("x", Dtype::kF32, {times(number(2), s)});
    m.guard(Expr::make(ExprOp::kEq, {Expr::make(ExprOp::kMod, {size_of("x", 0), number(2)}), number(0)}));
    m.guard(Expr::make(ExprOp::kLe, {size_of("x", 0), number(200)}));
    add("twice", m);
  }
  {
    ContractMaker m;
    const Expr n = m.symbol("s0", 200);
    m.tensor("x", Dtype::kF32, {n});
    m.guard(Expr::make(ExprOp::kEq, {Expr::make(ExprOp::kMod, {size_of("x", 0), number(100)}), number(0)}));
    add("multiple-of-100", m);
  }
  {
    ContractMaker m;
    const Expr a = m.symbol("s0"), b = m.symbol("s1");
    add("product", m.tensor("x", Dtype::kBF16, {a, b}).tensor("y", Dtype::kBF16, {times(a, b)}));
  }
  {
    ContractMaker m;
    const Expr a = m.symbol("s0"), b = m.symbol("s1");
    m.tensor("x", Dtype::kF16, {a, b});
    m.guard(Expr::make(ExprOp::kLt, {size_of("x", 0), size_of("x", 1)}));
    m.guard(Expr::make(ExprOp::kEq,
                       {Expr::make(ExprOp::kMod, {times(size_of("x", 0), size_of("x", 1)), number(6)}), number(0)}));
    add("relation-of-two", m);
  }
  {
    ContractMaker m;
    const Expr a = m.symbol("s0"), b = m.symbol("s1");
    add("transposed", m.tensor("x", Dtype::kF32, {a, b}, {number(1), a})
                          .tensor("y", Dtype::kF32, {number(16), number(16)}, {number(1), number(16)}));
  }
  {
    ContractMaker m;
    const Expr v = m.symbol("s0"), n = m.symbol("s1");
    add("index", m.tensor("x", Dtype::kF32, {v, number(3)})
                     .tensor("i", Dtype::kI64, {n})
                     .role(ValueRole::Kind::kIndex, size_of("x", 0)));
  }
  {
    ContractMaker m;
    const Expr n = m.symbol("s0"), b = m.symbol("s1", 1);
    add("offsets",
        m.tensor("v", Dtype::kF32, {n}).tensor("o", Dtype::kI64, {b}).role(ValueRole::Kind::kOffsets, size_of("v", 0)));
  }
  {
    ContractMaker m;
    const Expr n = m.symbol("s0");
    add("bytes", m.tensor("x", Dtype::kU8, {n}).tensor("m", Dtype::kBool, {n}));
  }
  {
    ContractMaker m;
    const Expr n = m.symbol("s0");
    m.tensor("a", Dtype::kI32, {n}).tensor("b", Dtype::kI32, {n}).role(ValueRole::Kind::kDivisor);
    add("scalars",
        m.scalar("k", CaseInput::Kind::kInt, int64_t{3}, true).scalar("f", CaseInput::Kind::kFloat, 0.5, false));
  }
  {
    ContractMaker m;
    const Expr a = m.symbol("s0"), b = m.symbol("s1"), stride = m.symbol("s2");
    m.tensor("x", Dtype::kF32, {a, b}, {stride, number(1)});
    Contract contract = m.contract();
    contract.symbols.back().dim = "x.stride(0)";
    samples.push_back({"free-stride", std::move(contract)});
  }
  return samples;
}

}  // namespace

const std::vector<NamedContract>& sample_contracts() {
  static const std::vector<NamedContract> samples = make_samples();
  return samples;
}

const Contract& sample_contract(const std::string& name) {
  for (const NamedContract& sample : sample_contracts())
    if (sample.name == name) return sample.contract;
  AOTIFUZZ_CHECK(false) << "no sample contract is named " << name;
  return sample_contracts().front().contract;
}

}  // namespace aotifuzz::support
