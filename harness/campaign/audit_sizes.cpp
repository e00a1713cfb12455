#include "campaign/audit_sizes.h"

#include <algorithm>
#include <utility>

namespace aotifuzz {
namespace {

// Vector lanes (8 floats or 16, 32 or 64 bytes), tiles of GEMM and of reductions, and one beside each.
constexpr int64_t kWidths[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr int kHalvings = 12;  // from any two of the values tried to neighbours

bool fits(const Case& c, int64_t elements_max) {
  return std::all_of(c.inputs.begin(), c.inputs.end(), [&](const CaseInput& input) {
    int64_t elements = 1;
    for (const int64_t size : input.sizes) {
      if (size > 0 && elements > elements_max / size) return false;
      elements *= size;
    }
    return true;
  });
}

const SymbolSpec* symbol_of(const Contract& contract, const std::string& name) {
  for (const SymbolSpec& symbol : contract.symbols)
    if (symbol.name == name) return &symbol;
  return nullptr;
}

using Kind = std::pair<AuditTrial::Answer, AuditTrial::Answer>;
Kind kind_of(const AuditAnswer& answer) { return {answer.off.answer, answer.on.answer}; }

}  // namespace

AuditSizes::AuditSizes(AuditRunner& runner, const ContractBounds& bounds, const Case& base,
                       const std::function<void(Case&)>& revalue, int64_t elements_max)
    : runner_(runner),
      bounds_(bounds),
      base_(base),
      revalue_(revalue),
      elements_max_(elements_max),
      variables_(base, runner.context().contract) {
  for (const SizeVariables::Variable& variable : variables_.variables()) {
    AuditAxis axis;
    axis.name = variable.name;
    for (const ContractBounds::SymbolBounds& row : bounds_.symbols)
      if (row.dim == axis.name) {
        axis.declared_min = row.min;
        axis.declared_max = row.max;
      }
    axes_.push_back(std::move(axis));
    tried_.emplace_back();
  }
}

void AuditSizes::try_value(size_t axis, int64_t value) {
  if (value < 0 || !tried_[axis].insert(value).second) return;
  std::optional<Case> c = variables_.with({{axis, value}});
  if (!c) return;
  const std::optional<int64_t> size = dimension_value(*c, axes_[axis].name);
  if (!size) return;
  if (!fits(*c, elements_max_)) {
    axes_[axis].too_large = std::min(axes_[axis].too_large.value_or(*size), *size);
    return;
  }
  revalue_(*c);
  const std::string label = axes_[axis].name + " = " + std::to_string(*size);
  auto answer = runner_.run(*c, axes_[axis].name, label);
  if (!answer) {
    axes_[axis].cut_short = true;
    return;
  }
  if (second_values_ && answer->broken.empty() && !answer->off.reference_accepts &&
      answer->off.answer == AuditTrial::Answer::kRefused) {
    second_values_(*c);
    if (auto second = runner_.run(*c, axes_[axis].name, label); second && second->off.reference_accepts)
      answer = std::move(second);
  }
  axes_[axis].answers.emplace(*size, std::move(*answer));
}

void AuditSizes::try_edges(bool declared) {
  const Contract& contract = runner_.context().contract;
  for (size_t a = 0; a < axes_.size(); ++a) {
    const SizeVariables::Variable& variable = variables_.variables()[a];
    std::vector<int64_t> values = {variable.value, 0, 1, 2, 3};
    if (const SymbolSpec* symbol = symbol_of(contract, variable.symbol)) {
      for (const int64_t step : {-1, 0, 1}) {
        values.push_back(symbol->min + step);
        if (symbol->max) values.push_back(*symbol->max + step);
      }
    }
    for (const ContractBounds::SymbolBounds& row : bounds_.symbols)
      if (row.symbol == variable.symbol) values.insert(values.end(), row.landmarks.begin(), row.landmarks.end());
    const SymbolSpec* symbol = symbol_of(contract, variable.symbol);
    const auto is_declared = [&](int64_t value) {
      return symbol && value >= symbol->min && (!symbol->max || value <= *symbol->max);
    };
    for (const int64_t value : values)
      if (!declared || is_declared(value)) try_value(a, value);
  }
}

void AuditSizes::try_widths() {
  for (const int64_t width : kWidths)
    for (size_t a = 0; a < axes_.size(); ++a)
      for (const int64_t step : {0, 1, -1}) try_value(a, width + step);
}

void AuditSizes::pin_down() {
  for (size_t a = 0; a < axes_.size(); ++a) {
    // From the values of the variable: those of the dimension may go in steps.
    std::vector<std::pair<int64_t, Kind>> seen;
    for (const int64_t value : tried_[a]) {
      const auto c = variables_.with({{a, value}});
      const auto size = c ? dimension_value(*c, axes_[a].name) : std::nullopt;
      const auto answer = size ? axes_[a].answers.find(*size) : axes_[a].answers.end();
      if (answer != axes_[a].answers.end()) seen.emplace_back(value, kind_of(answer->second));
    }
    for (size_t i = 0; i + 1 < seen.size(); ++i) {
      auto [low, kind] = seen[i];
      int64_t high = seen[i + 1].first;
      if (kind == seen[i + 1].second) continue;
      for (int k = 0; k < kHalvings && high - low > 1 && !runner_.ended(); ++k) {
        const int64_t middle = low + (high - low) / 2;
        try_value(a, middle);
        const auto c = variables_.with({{a, middle}});
        const auto size = c ? dimension_value(*c, axes_[a].name) : std::nullopt;
        const auto answer = size ? axes_[a].answers.find(*size) : axes_[a].answers.end();
        if (answer == axes_[a].answers.end()) break;
        (kind_of(answer->second) == kind ? low : high) = middle;
      }
    }
  }
}

std::string value_ranges(const AuditAxis& axis, const std::function<bool(const AuditAnswer&)>& holds) {
  std::string out;
  std::optional<int64_t> first, last;
  const auto close = [&] {
    if (!first) return;
    out += (out.empty() ? "" : ", ") + std::to_string(*first) + (*last > *first ? ".." + std::to_string(*last) : "");
    first.reset();
  };
  for (const auto& [value, answer] : axis.answers) {
    if (!holds(answer)) {
      close();
      continue;
    }
    if (!first) first = value;
    last = value;
  }
  close();
  return out.empty() ? "none" : out;
}

std::optional<Expr> guard_of_values(const std::string& dim, const std::map<int64_t, bool>& fails) {
  std::vector<int64_t> bad, good;
  for (const auto& [value, failed] : fails) (failed ? bad : good).push_back(value);
  if (good.empty() || bad.empty()) return std::nullopt;
  const Expr size = Expr::symbol(dim);
  const auto compare = [&](ExprOp op, Expr left, int64_t right) {
    return Expr::make(op, {std::move(left), Expr::integer(right)});
  };
  if (bad.back() < good.front()) return compare(ExprOp::kGe, size, good.front());
  if (bad.front() > good.back()) return compare(ExprOp::kLe, size, good.back());
  if (bad.size() == 1) return compare(ExprOp::kNe, size, bad.front());
  constexpr int kWitnesses = 3;  // on each side; fewer agree by chance
  if (bad.size() >= kWitnesses && good.size() >= kWitnesses)
    for (const int64_t step : {64, 32, 16, 8, 4, 3, 2}) {
      const auto divides = [&](int64_t value) { return value % step == 0; };
      if (std::all_of(good.begin(), good.end(), divides) && std::none_of(bad.begin(), bad.end(), divides))
        return compare(ExprOp::kEq, Expr::make(ExprOp::kMod, {size, Expr::integer(step)}), 0);
    }
  int64_t below = -1;
  for (const int64_t value : good)
    if (value < bad.front()) below = value;
  if (below >= 0) return compare(ExprOp::kLe, size, below);
  for (const int64_t value : good)
    if (value > bad.back()) return compare(ExprOp::kGe, size, value);
  return std::nullopt;
}

}  // namespace aotifuzz
