#include "generators/shape_model.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/element_source.h"

namespace aotifuzz {
namespace {

// A slot's number travels as the first character of a symbol's name: looking it up is an array access, and nothing but
// core/expr has to evaluate expressions.
constexpr size_t kSlotsMax = 250;

// Rows of padding that are tried where a stride is free: dense may be excluded ("x.stride(0) != x.size(1)*x.size(2)").
constexpr int64_t kPaddings = 3;

std::string slot_name(size_t slot) { return std::string(1, static_cast<char>(slot + 1)); }
size_t slot_number(const std::string& name) { return static_cast<unsigned char>(name[0]) - size_t{1}; }

/// Value of the one unknown in `expr` that makes it `target`, when the expression is linear in it.
std::optional<int64_t> solve_linear(const Expr& expr, size_t unknown, SlotValues values, int64_t target) {
  const auto at = [&](int64_t trial) {
    values[unknown] = trial;
    return expr.evaluate([&](const std::string& name) { return std::optional(values[slot_number(name)]); });
  };
  const std::optional<int64_t> at0 = at(0), at1 = at(1);
  if (!at0 || !at1 || *at0 == *at1) return std::nullopt;
  const int64_t guess = (target - *at0) / (*at1 - *at0);
  return at(guess) == target ? std::optional(guess) : std::nullopt;
}

}  // namespace

int64_t ShapeModel::Slot::snap(int64_t value) const {
  const int64_t lo = min + wrap_index(residue - min, step);  // least allowed value
  if (value <= lo) return lo;
  int64_t snapped = std::min(value, max);
  const int64_t over = wrap_index(snapped - residue, step);
  snapped -= over;
  if (over * 2 > step && snapped + step <= max && snapped + step - value < over) snapped += step;
  return std::max(snapped, lo);
}

ShapeModel::ShapeModel(const Contract& contract, const ContractBounds& bounds) : contract_(contract) {
  add_slots(bounds);
  for (const InputSpec& spec : contract_.inputs) {
    Tensor tensor;
    for (const Expr& size : spec.sizes) tensor.sizes.push_back(compile(size));
    for (const Expr& stride : spec.strides) tensor.strides.push_back(compile(stride));
    tensor.dense = is_dense(tensor);
    tensors_.push_back(std::move(tensor));
  }
  add_conditions();
  find_free_strides();
  for (const Assignment& assignment : bounds.boundary) {
    std::optional<SlotValues> values = slot_values(assignment);
    if (!values) continue;
    // The solver knows nothing of overlap: its strides are any numbers that the conditions allow.
    for (int64_t padding = 0; padding < kPaddings; ++padding) {
      settle_strides(*values, padding);
      if (!legal(*values)) continue;
      boundary_.push_back(*values);
      break;
    }
  }
  fill_pool();
}

void ShapeModel::add_slots(const ContractBounds& bounds) {
  std::set<std::string> used;
  for (const InputSpec& spec : contract_.inputs) {
    for (const Expr& size : spec.sizes) size.collect_symbols(used);
    for (const Expr& stride : spec.strides) stride.collect_symbols(used);
    if (spec.kind == CaseInput::Kind::kInt) used.insert(spec.name);
  }
  for (const SymbolSpec& spec : contract_.symbols) {
    if (spec.unbacked || slots_.size() >= kSlotsMax) continue;
    if (!used.contains(spec.name) && !used.contains(spec.dim)) continue;
    Slot slot;
    slot.symbol = spec.name, slot.dim = spec.dim;
    slot.min = spec.min, slot.max = spec.max.value_or(kSizeMax);
    for (const ContractBounds::SymbolBounds& known : bounds.symbols) {
      if (known.symbol != spec.name) continue;
      slot.min = std::max(slot.min, known.min);
      slot.max = std::min(slot.max, known.max.value_or(kSizeMax));
      slot.step = std::max<int64_t>(known.step, 1);
      slot.residue = wrap_index(known.residue, slot.step);
      for (int64_t landmark : known.landmarks)
        if (landmark >= slot.min && landmark <= slot.max) slot.landmarks.push_back(landmark);
    }
    slot.max = std::max(slot.max, slot.min);
    slots_.push_back(std::move(slot));
  }
}

int ShapeModel::slot_of(const std::string& symbol) const {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].symbol == symbol) return static_cast<int>(i);
  return -1;
}

Expr ShapeModel::over_slots(const Expr& expr) const {
  return expr.substitute([this](const std::string& name) -> std::optional<Expr> {
    const int slot = slot_of(name);
    // A symbol without a slot (unbacked) has no value that a case could state.
    return slot >= 0 ? Expr::symbol(slot_name(static_cast<size_t>(slot))) : Expr::opaque(name);
  });
}

Expr ShapeModel::dimensions_to_slots(const Expr& expr) const {
  return expr.substitute([this](const std::string& name) -> std::optional<Expr> {
    for (const InputSpec& spec : contract_.inputs) {
      if (!name.starts_with(spec.name)) continue;
      const std::string rest = name.substr(spec.name.size());
      if (rest.empty()) {
        for (const Slot& slot : slots_)
          if (slot.dim == name) return over_slots(Expr::symbol(slot.symbol));
        return spec.is_constant ? Expr::integer(to_int64(spec.constant)) : Expr::opaque(name);
      }
      for (size_t d = 0; d < spec.sizes.size(); ++d) {
        if (rest == ".size(" + std::to_string(d) + ")") return over_slots(spec.sizes[d]);
        if (rest == ".stride(" + std::to_string(d) + ")" && d < spec.strides.size()) return over_slots(spec.strides[d]);
      }
      if (rest == ".offset()") return Expr::integer(0);
    }
    return Expr::opaque(name);
  });
}

ShapeModel::Dim ShapeModel::compile(const Expr& expr) const {
  Dim dim;
  dim.expr = over_slots(expr);
  if (dim.expr.is_constant()) {
    dim.constant = dim.expr.value();
  } else if (dim.expr.op() == ExprOp::kSymbol) {
    dim.slot = static_cast<int>(slot_number(dim.expr.name()));
  } else {
    dim.computed = true;
  }
  return dim;
}

std::optional<int64_t> ShapeModel::evaluate(const Expr& expr, const SlotValues& values) {
  return expr.evaluate([&values](const std::string& name) { return std::optional(values[slot_number(name)]); });
}

std::optional<int64_t> ShapeModel::evaluate(const Dim& dim, const SlotValues& values) {
  if (dim.slot >= 0) return values[static_cast<size_t>(dim.slot)];
  return dim.computed ? evaluate(dim.expr, values) : std::optional(dim.constant);
}

void ShapeModel::add_conditions() {
  for (const Condition& condition : contract_.conditions) {
    const Expr expr = dimensions_to_slots(condition.expr);
    if (expr.has_opaque() || expr.is_constant()) continue;
    if (expr.op() == ExprOp::kEq && expr.args()[0] == expr.args()[1]) continue;
    std::set<std::string> names;
    expr.collect_symbols(names);
    if (!names.empty()) conditions_.push_back(expr);
  }
}

bool ShapeModel::is_dense(const Tensor& tensor) const {
  if (tensor.strides.size() != tensor.sizes.size()) return true;
  // Values that are larger than 1 and differ: real strides do not agree with dense ones by accident in both rounds.
  for (int64_t base : {7, 101}) {
    SlotValues values(slots_.size());
    for (size_t s = 0; s < values.size(); ++s) values[s] = base + 6 * static_cast<int64_t>(s);
    std::vector<int64_t> sizes;
    for (const Dim& size : tensor.sizes) sizes.push_back(evaluate(size, values).value_or(2));
    const std::vector<int64_t> dense = CaseInput::dense_strides(sizes);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] > 1 && evaluate(tensor.strides[d], values).value_or(dense[d]) != dense[d]) return false;
  }
  return true;
}

void ShapeModel::find_free_strides() {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    for (size_t d = 0; d < tensors_[i].strides.size(); ++d) {
      const int s = tensors_[i].strides[d].slot;
      if (s < 0 ||
          slots_[static_cast<size_t>(s)].dim != contract_.inputs[i].name + ".stride(" + std::to_string(d) + ")")
        continue;
      slots_[static_cast<size_t>(s)].stride_of = static_cast<int>(i);
      slots_[static_cast<size_t>(s)].stride_dim = static_cast<int>(d);
      free_strides_ = true;
    }
  }
}

void ShapeModel::settle_strides(SlotValues& values, int64_t padding) const {
  if (!free_strides_) return;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    int64_t span = 1;  // elements that the dimensions inside reach over
    int64_t row = 1, inner = 1;
    for (size_t d = tensor.strides.size(); d-- > 0;) {
      const int s = tensor.strides[d].slot;
      const bool free = s >= 0 && slots_[static_cast<size_t>(s)].stride_of == static_cast<int>(i) &&
                        slots_[static_cast<size_t>(s)].stride_dim == static_cast<int>(d);
      if (free) values[static_cast<size_t>(s)] = std::max(span, inner) + padding * row;
      const int64_t size = std::max<int64_t>(evaluate(tensor.sizes[d], values).value_or(1), 1);
      const int64_t stride = evaluate(tensor.strides[d], values).value_or(1);
      int64_t reach = 0;
      if (__builtin_mul_overflow(size - 1, stride, &reach) || __builtin_add_overflow(span, reach, &span) ||
          __builtin_mul_overflow(size, stride, &inner))
        return;  // far beyond any budget: legal() or the budget refuses it
      row = stride;
    }
  }
}

bool ShapeModel::legal(const SlotValues& values) const {
  for (size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    if (values[s] < slot.min || values[s] > slot.max) return false;
  }
  for (const Tensor& tensor : tensors_) {
    for (const Dim& size : tensor.sizes) {
      if (size.slot >= 0 || !size.computed) continue;
      const std::optional<int64_t> value = evaluate(size.expr, values);
      if (!value || *value < 0) return false;
    }
  }
  for (const Expr& condition : conditions_) {
    const std::optional<int64_t> value = evaluate(condition, values);
    if (!value || *value == 0) return false;
  }
  return true;
}

int64_t ShapeModel::elements(const SlotValues& values) const {
  constexpr int64_t kFull = std::numeric_limits<int64_t>::max();
  int64_t total = 0;
  for (const Tensor& tensor : tensors_) {
    int64_t count = 1;
    for (const Dim& size : tensor.sizes)
      if (__builtin_mul_overflow(count, evaluate(size, values).value_or(0), &count)) count = kFull;
    if (!tensor.sizes.empty() && __builtin_add_overflow(total, count, &total)) total = kFull;
  }
  return total;
}

CaseInput ShapeModel::make_input(size_t index) const {
  const InputSpec& spec = contract_.inputs[index];
  CaseInput input;
  input.name = spec.name;
  input.kind = spec.kind;
  if (spec.kind == CaseInput::Kind::kTensor)
    input.dtype = spec.dtype;
  else
    input.scalar = spec.constant;
  return input;
}

Case ShapeModel::make_case(const SlotValues& values) const {
  Case c;
  c.inputs.reserve(contract_.inputs.size());
  for (size_t i = 0; i < contract_.inputs.size(); ++i) {
    CaseInput input = make_input(i);
    const Tensor& tensor = tensors_[i];
    if (input.kind == CaseInput::Kind::kTensor) {
      input.sizes.reserve(tensor.sizes.size());
      for (const Dim& size : tensor.sizes) input.sizes.push_back(evaluate(size, values).value_or(0));
      if (!tensor.dense) {
        std::vector<int64_t> strides = CaseInput::dense_strides(input.sizes);
        bool differs = false;
        for (size_t d = 0; d < strides.size(); ++d) {
          const int64_t exported = evaluate(tensor.strides[d], values).value_or(strides[d]);
          // A size of 1 has no stride, but conditions may still speak of a free one.
          differs |= (input.sizes[d] > 1 || free_strides_) && exported != strides[d];
          strides[d] = exported;
        }
        if (differs) input.strides = std::move(strides);
      }
    } else {
      for (size_t s = 0; s < slots_.size(); ++s)
        if (slots_[s].dim == input.name) input.scalar = values[s];
    }
    c.inputs.push_back(std::move(input));
  }
  return c;
}

std::optional<SlotValues> ShapeModel::slot_values(const Assignment& assignment) const {
  SlotValues values(slots_.size(), 1);
  std::vector<bool> known(slots_.size(), false);
  for (size_t s = 0; s < slots_.size(); ++s) {
    auto at = assignment.find(slots_[s].dim);
    if (at == assignment.end()) at = assignment.find(slots_[s].symbol);
    if (at == assignment.end()) continue;
    values[s] = at->second, known[s] = true;
  }
  // A dimension such as 2*s states its symbol although no dimension is exactly it.
  for (size_t i = 0; i < contract_.inputs.size(); ++i) {
    for (size_t d = 0; d < tensors_[i].sizes.size(); ++d) {
      const auto at = assignment.find(contract_.inputs[i].name + ".size(" + std::to_string(d) + ")");
      const Dim& size = tensors_[i].sizes[d];
      if (at == assignment.end() || !size.computed || size.expr.has_opaque()) continue;
      std::set<std::string> names;
      size.expr.collect_symbols(names);
      std::erase_if(names, [&](const std::string& name) { return known[slot_number(name)]; });
      if (names.size() != 1) continue;
      const size_t unknown = slot_number(*names.begin());
      const std::optional<int64_t> value = solve_linear(size.expr, unknown, values, at->second);
      if (value) values[unknown] = *value, known[unknown] = true;
    }
  }
  for (bool k : known)
    if (!k) return std::nullopt;
  return values;
}

std::optional<Case> ShapeModel::make_case(const Assignment& assignment) const {
  std::optional<SlotValues> values = slot_values(assignment);
  if (!values) {
    // 2*s broken to 7: no s fits. What the assignment does not state may follow from the fallback.
    if (pool_.empty()) return std::nullopt;
    values = pool_.front();
    for (size_t s = 0; s < slots_.size(); ++s)
      if (const auto at = assignment.find(slots_[s].dim); at != assignment.end()) (*values)[s] = at->second;
  }
  Case c = make_case(*values);
  for (CaseInput& input : c.inputs) {
    // A broken stride may be any number for the solver; a tensor has none below 0.
    if (input.strides &&
        std::any_of(input.strides->begin(), input.strides->end(), [](int64_t stride) { return stride < 0; }))
      return std::nullopt;
    bool stated = false;
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      const auto at = assignment.find(input.name + ".size(" + std::to_string(d) + ")");
      if (at == assignment.end() || at->second == input.sizes[d]) continue;
      input.sizes[d] = at->second;
      stated = true;
      if (at->second < 0) return std::nullopt;
    }
    if (stated && !input.strides) continue;
    if (stated) {
      // Dense in the exported order for the sizes that it now has.
      std::vector<size_t> order(input.sizes.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t x, size_t y) { return (*input.strides)[x] > (*input.strides)[y]; });
      int64_t stride = 1;
      for (size_t k = order.size(); k-- > 0;) {
        (*input.strides)[order[k]] = stride;
        stride *= std::max<int64_t>(input.sizes[order[k]], 1);
      }
    }
  }
  return c;
}

void ShapeModel::fill_pool() {
  SlotValues simplest(slots_.size());
  for (size_t s = 0; s < slots_.size(); ++s) simplest[s] = slots_[s].snap(std::max<int64_t>(slots_[s].min, 1));
  for (int64_t padding = 0; padding < kPaddings && pool_.empty(); ++padding) {
    settle_strides(simplest, padding);
    if (legal(simplest)) pool_.push_back(simplest);
  }
  std::vector<SlotValues> known = boundary_;
  std::stable_sort(known.begin(), known.end(), [this](const SlotValues& x, const SlotValues& y) {
    const int64_t ex = elements(x), ey = elements(y);
    return (ex == 0) != (ey == 0) ? ey == 0 : ex < ey;  // an empty tensor shows nothing: last
  });
  for (SlotValues& values : known) pool_.push_back(std::move(values));
  // Conditions over several symbols may be hard to hit by chance: look for more once, here.
  constexpr size_t kPoolMax = 96;
  constexpr int kTries = 20000;
  if (slots_.empty() || conditions_.empty()) return;
  SlotValues trial(slots_.size());
  uint64_t counter = 0;
  for (int i = 0; i < kTries && pool_.size() < kPoolMax; ++i) {
    for (size_t s = 0; s < slots_.size(); ++s) {
      const uint64_t word = random_word(random_key(1), counter++);
      const int64_t reach = i % 4 == 0 ? 8 : i % 4 == 3 ? 1000 : 70;
      trial[s] =
          slots_[s].snap(slots_[s].min + static_cast<int64_t>(word % static_cast<uint64_t>(reach)) * slots_[s].step);
    }
    settle_strides(trial, i % kPaddings);
    if (legal(trial)) pool_.push_back(trial);
  }
  if (pool_.size() > 1 && pool_.front() != simplest)
    std::stable_sort(pool_.begin(), pool_.end(), [this](const SlotValues& x, const SlotValues& y) {
      const int64_t ex = elements(x), ey = elements(y);
      return (ex == 0) != (ey == 0) ? ey == 0 : ex < ey;
    });
}

}  // namespace aotifuzz
