#include "core/contract.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_set>

namespace aotifuzz {
namespace {

/// A dimension name taken apart: "x.size(1)" is {"x", 's', 1}; a scalar's name has part 0.
struct DimensionName {
  std::string_view input;
  char part = 0;  ///< 's' size, 't' stride, 'o' offset, 0 the input itself
  int64_t dim = 0;
};

DimensionName split_dimension(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.empty() || name.back() != ')') return {name};
  const std::string_view rest = name.substr(dot + 1);
  DimensionName out{name.substr(0, dot)};
  if (rest == "offset()") {
    out.part = 'o';
    return out;
  }
  std::string_view number;
  if (rest.starts_with("size(")) {
    out.part = 's';
    number = rest.substr(5, rest.size() - 6);
  } else if (rest.starts_with("stride(")) {
    out.part = 't';
    number = rest.substr(7, rest.size() - 8);
  } else {
    return {name};
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.dim);
  if (error != std::errc() || end != number.data() + number.size()) return {name};
  return out;
}

std::optional<int64_t> value_in(const CaseInput& input, const DimensionName& name) {
  if (name.part == 0) {
    if (input.kind != CaseInput::Kind::kInt && input.kind != CaseInput::Kind::kBool) return std::nullopt;
    return to_int64(input.scalar);
  }
  if (input.kind != CaseInput::Kind::kTensor) return std::nullopt;
  if (name.part == 'o') return input.offset;
  if (name.dim < 0 || name.dim >= static_cast<int64_t>(input.sizes.size())) return std::nullopt;
  if (name.part == 's') return input.sizes[name.dim];
  if (!input.strides) return CaseInput::dense_strides(input.sizes)[name.dim];
  return name.dim < static_cast<int64_t>(input.strides->size()) ? std::optional((*input.strides)[name.dim])
                                                                : std::nullopt;
}

/// Checks one case; holds the values of the contract's symbols in it.
class Checker {
 public:
  Checker(const Contract& contract, const Case& c) : contract_(contract), case_(c) {}

  std::vector<Violation> run() {
    // How many tensors the package is given is one condition, whichever of them is too many.
    if (case_.inputs.size() != contract_.inputs.size()) {
      add(Condition::Kind::kKind, -1, "number of inputs as exported",
          std::to_string(case_.inputs.size()) + " given, " + std::to_string(contract_.inputs.size()) + " declared");
      return std::move(found_);
    }
    solve_symbols();
    for (size_t i = 0; i < case_.inputs.size(); ++i) check_input(static_cast<int>(i));
    for (const Condition& condition : contract_.conditions) check_condition(condition);
    check_shared_storage();
    return std::move(found_);
  }

 private:
  void add(Condition::Kind kind, int input, std::string text, std::string detail) {
    found_.push_back({kind, input, std::move(text), std::move(detail)});
  }

  // The case's names are for readers, its positions decide: names of the contract are looked up by position.
  std::optional<int64_t> dimension(const std::string& name) const {
    const DimensionName parts = split_dimension(name);
    const int index = contract_.find_input(parts.input);
    return index < 0 ? std::nullopt : value_in(case_.inputs[index], parts);
  }

  std::optional<int64_t> symbol(const std::string& name) const {
    const auto it = symbols_.find(name);
    return it == symbols_.end() ? std::nullopt : std::optional(it->second);
  }

  void solve_symbols() {
    for (const SymbolSpec& spec : contract_.symbols)
      if (!spec.dim.empty())
        if (const std::optional<int64_t> value = dimension(spec.dim)) symbols_[spec.name] = *value;
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      const InputSpec& spec = contract_.inputs[i];
      const CaseInput& given = case_.inputs[i];
      for (size_t d = 0; d < spec.sizes.size() && d < given.sizes.size(); ++d) solve(spec.sizes[d], given.sizes[d]);
    }
  }

  // A derived dimension such as 2*s + 1 states its symbol although no input has exactly that size.
  void solve(const Expr& size, int64_t value) {
    std::set<std::string> names;
    if (size.is_constant()) return;
    size.collect_symbols(names);
    std::string unknown;
    for (const std::string& name : names) {
      if (symbols_.contains(name)) continue;
      if (!unknown.empty()) return;
      unknown = name;
    }
    if (unknown.empty()) return;
    const auto at = [&](int64_t trial) {
      return size.evaluate([&](const std::string& name) { return name == unknown ? trial : symbol(name); });
    };
    const std::optional<int64_t> at0 = at(0), at1 = at(1), at2 = at(2);
    if (!at0 || !at1 || !at2 || *at1 == *at0 || *at2 - *at1 != *at1 - *at0) return;
    const int64_t guess = (value - *at0) / (*at1 - *at0);
    if (at(guess) == value) symbols_[unknown] = guess;
  }

  void check_input(int index) {
    const InputSpec& spec = contract_.inputs[index];
    const CaseInput& given = case_.inputs[index];
    if (given.kind == CaseInput::Kind::kNone && spec.kind == CaseInput::Kind::kTensor) {
      // A package takes tensors only, so that this is one input fewer.
      add(Condition::Kind::kKind, index, spec.name + ": a tensor, not None", "None");
      return;
    }
    if (given.kind != spec.kind) {
      add(Condition::Kind::kKind, index, spec.name + ": kind as exported", "another kind of value");
      return;
    }
    if (spec.kind != CaseInput::Kind::kTensor) {
      if (spec.is_constant && spec.kind != CaseInput::Kind::kNone && !same_number(spec.constant, given.scalar))
        add(Condition::Kind::kScalar, index, spec.name + ": value fixed at export",
            std::to_string(to_double(given.scalar)) + " given, " + std::to_string(to_double(spec.constant)) + " fixed");
      return;
    }
    if (given.dtype != spec.dtype)
      add(Condition::Kind::kDtype, index, spec.name + ".dtype == " + std::string(dtype_name(spec.dtype)),
          std::string(dtype_name(given.dtype)) + " given");
    check_place(spec, given, index);
    if (given.zero_tensor) add(Condition::Kind::kZeroTensor, index, spec.name + ": has storage", "zero tensor");
    if (given.sizes.size() != spec.sizes.size()) {
      add(Condition::Kind::kRank, index, spec.name + ".dim() == " + std::to_string(spec.sizes.size()),
          std::to_string(given.sizes.size()) + " dimensions");
      return;
    }
    if (!given.zero_tensor) check_strides(index);
  }

  void check_place(const InputSpec& spec, const CaseInput& given, int index) {
    const std::string wanted = spec.device.substr(0, spec.device.find(':'));
    const std::string lies(case_place_name(given.place));
    if (given.place == CasePlace::kDeclared || lies == wanted) return;
    add(Condition::Kind::kDevice, index, spec.name + ".device.type == " + wanted, lies + " given");
  }

  void check_strides(int index) {
    const InputSpec& spec = contract_.inputs[index];
    const CaseInput& given = case_.inputs[index];
    if (given.numel() == 0) return;
    const std::vector<int64_t> strides = given.effective_strides();
    bool symbolic = false;
    std::optional<size_t> differs;
    std::optional<int64_t> expected;
    for (size_t d = 0; d < given.sizes.size() && d < spec.strides.size() && !differs; ++d) {
      if (given.sizes[d] < 2) continue;
      symbolic |= !spec.strides[d].is_constant();
      expected = spec.strides[d].evaluate([this](const std::string& name) { return symbol(name); });
      if (expected && *expected != strides[d]) differs = d;
    }
    // A size that breaks a condition is that condition's violation: strides that are dense in the exported order for
    // the sizes at hand are as exported all the same.
    if (differs && !is_dense_in_exported_order(spec, given.sizes, strides)) {
      add(Condition::Kind::kStride, index, layout_text(spec),
          "stride(" + std::to_string(*differs) + ") = " + std::to_string(strides[*differs]) + ", exported " +
              std::to_string(*expected));
      return;
    }
    // Constant strides are what the example had, whatever they overlap.
    if (symbolic && overlaps_itself(given.sizes, strides))
      add(Condition::Kind::kOverlap, index, spec.name + ": no two elements share memory", "overlapping strides");
  }

  // A size that breaks a relation moves the symbols, and with them the strides that other inputs should have; that is
  // one violation, not two, while the strides are what export would have made of the sizes that the input has.
  bool as_exported_for_its_sizes(const InputSpec& spec, const CaseInput& given,
                                 const std::vector<int64_t>& strides) const {
    std::vector<int64_t> expected = CaseInput::dense_strides(given.sizes);
    if (!is_dense(spec)) {
      const auto own_first = [&](const std::string& name) {
        for (size_t d = 0; d < spec.sizes.size(); ++d)
          if (spec.sizes[d].op() == ExprOp::kSymbol && spec.sizes[d].name() == name)
            return std::optional(given.sizes[d]);
        return symbol(name);
      };
      for (size_t d = 0; d < expected.size() && d < spec.strides.size(); ++d)
        expected[d] = spec.strides[d].evaluate(own_first).value_or(strides[d]);
    }
    for (size_t d = 0; d < expected.size(); ++d)
      if (given.sizes[d] > 1 && expected[d] != strides[d]) return false;
    return true;
  }

  static bool overlaps_itself(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
    std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
    std::sort(dims.begin(), dims.end());
    int64_t span = 0;
    for (const auto& [stride, size] : dims) {
      if (stride <= span) return true;
      int64_t step = 0;
      if (__builtin_mul_overflow(stride, size - 1, &step) || __builtin_add_overflow(span, step, &span)) return false;
    }
    return false;
  }

  std::string layout_text(const InputSpec& spec) const {
    std::string list;
    for (size_t d = 0; d < spec.strides.size(); ++d)
      list += (d > 0 ? ", " : "") + spec.strides[d]
                                        .substitute([this](const std::string& name) {
                                          for (const SymbolSpec& s : contract_.symbols)
                                            if (s.name == name && !s.dim.empty())
                                              return std::optional(Expr::symbol(s.dim));
                                          return std::optional<Expr>();
                                        })
                                        .text();
    return spec.name + ": strides as exported (" + (is_dense(spec) ? "dense" : list) + ")";
  }

  /// Dimensions from outermost to innermost when the exported strides leave no gaps in that order.
  static std::optional<std::vector<size_t>> exported_order(const InputSpec& spec) {
    if (spec.strides.size() != spec.sizes.size()) return std::nullopt;
    std::vector<size_t> order(spec.sizes.size());
    // Two sets of values for the symbols decide: real strides do not agree with dense ones by accident in both.
    for (int64_t base : {7, 101}) {
      std::map<std::string, int64_t> values;
      const auto lookup = [&](const std::string& name) {
        return std::optional(values.try_emplace(name, base + 6 * static_cast<int64_t>(values.size())).first->second);
      };
      std::vector<int64_t> sizes, strides;
      for (size_t d = 0; d < spec.sizes.size(); ++d) {
        const std::optional<int64_t> size = spec.sizes[d].evaluate(lookup), stride = spec.strides[d].evaluate(lookup);
        if (!size || !stride) return std::nullopt;
        sizes.push_back(*size);
        strides.push_back(*stride);
      }
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
      const std::vector<int64_t> dense = dense_in_order(order, sizes);
      for (size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d] > 1 && strides[d] != dense[d]) return std::nullopt;
    }
    return order;
  }

  static std::vector<int64_t> dense_in_order(const std::vector<size_t>& order, const std::vector<int64_t>& sizes) {
    std::vector<int64_t> ordered;
    for (size_t d : order) ordered.push_back(sizes[d]);
    const std::vector<int64_t> dense = CaseInput::dense_strides(ordered);
    std::vector<int64_t> out(sizes.size());
    for (size_t k = 0; k < order.size(); ++k) out[order[k]] = dense[k];
    return out;
  }

  static bool is_dense_in_exported_order(const InputSpec& spec, const std::vector<int64_t>& sizes,
                                         const std::vector<int64_t>& strides) {
    const std::optional<std::vector<size_t>> order = exported_order(spec);
    if (!order) return false;
    const std::vector<int64_t> dense = dense_in_order(*order, sizes);
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] > 1 && strides[d] != dense[d]) return false;
    return true;
  }

  static bool is_dense(const InputSpec& spec) {
    const std::optional<std::vector<size_t>> order = exported_order(spec);
    return order && std::is_sorted(order->begin(), order->end());
  }

  void check_condition(const Condition& condition) {
    const auto lookup = [this](const std::string& name) { return dimension(name); };
    const std::optional<int64_t> value = condition.expr.evaluate(lookup);
    if (value && *value != 0) return;
    std::set<std::string> names;
    condition.expr.collect_symbols(names);
    std::string detail;
    bool known = true;
    for (const std::string& name : names) {
      const std::optional<int64_t> at = dimension(name);
      known &= at.has_value();
      if (at) detail += (detail.empty() ? "" : ", ") + name + " = " + std::to_string(*at);
    }
    // Undefined although everything in it is known: a division by zero, which makes Python refuse the input as well.
    if (!value && (!known || condition.expr.has_opaque())) return;
    add(condition.kind, condition.input, condition.text, std::move(detail));
  }

  int storage_root(int index) const {
    for (size_t hops = 0; hops <= case_.inputs.size(); ++hops) {
      const std::string& name = case_.inputs[index].storage_of;
      if (name.empty()) return index;
      int next = -1;
      for (int i = 0; i < index && next < 0; ++i)
        if (case_.inputs[i].name == name) next = i;
      if (next < 0) return index;
      index = next;
    }
    return index;
  }

  void check_shared_storage() {
    for (size_t later = 1; later < case_.inputs.size(); ++later) {
      if (case_.inputs[later].storage_of.empty()) continue;
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const CaseInput& first = case_.inputs[earlier];
        const CaseInput& second = case_.inputs[later];
        if (first.kind != CaseInput::Kind::kTensor || second.kind != CaseInput::Kind::kTensor) continue;
        if (storage_root(static_cast<int>(earlier)) != storage_root(static_cast<int>(later))) continue;
        if (!share_memory(first, second)) continue;
        add(Condition::Kind::kOverlap, static_cast<int>(later),
            contract_.inputs[later].name + ": shares no memory with " + contract_.inputs[earlier].name,
            "overlapping views of one storage");
      }
    }
  }

  static bool share_memory(const CaseInput& first, const CaseInput& second) {
    if (first.numel() == 0 || second.numel() == 0) return false;
    const auto range = [](const CaseInput& input) {
      const int64_t bytes = dtype_bytes(input.dtype);
      int64_t end = 0;
      if (__builtin_mul_overflow(input.storage_elements(), bytes, &end)) end = std::numeric_limits<int64_t>::max();
      return std::pair(input.offset * bytes, end);
    };
    const auto [first_begin, first_end] = range(first);
    const auto [second_begin, second_end] = range(second);
    if (first_end <= second_begin || second_end <= first_begin) return false;
    // Ranges that interleave (every other element) may be disjoint: look at each element while that is cheap.
    constexpr int64_t kElementsMax = 1 << 16;
    if (first.dtype != second.dtype || first.numel() > kElementsMax || second.numel() > kElementsMax) return true;
    std::unordered_set<int64_t> touched;
    for_each_position(first, [&](int64_t at) { return touched.insert(at), true; });
    bool shared = false;
    for_each_position(second, [&](int64_t at) { return !(shared = touched.contains(at)); });
    return shared;
  }

  template <class Visit>
  static void for_each_position(const CaseInput& input, Visit visit) {
    const std::vector<int64_t> strides = input.effective_strides();
    std::vector<int64_t> index(input.sizes.size(), 0);
    int64_t at = input.offset;
    while (visit(at)) {
      size_t d = index.size();
      while (d > 0 && ++index[d - 1] == input.sizes[d - 1]) {
        at -= (index[d - 1] - 1) * strides[d - 1];
        index[--d] = 0;
      }
      if (d == 0) return;
      at += strides[d - 1];
    }
  }

  const Contract& contract_;
  const Case& case_;
  std::map<std::string, int64_t> symbols_;
  std::vector<Violation> found_;
};

}  // namespace

int Contract::find_input(std::string_view name) const {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].name == name) return static_cast<int>(i);
  return -1;
}

std::optional<int64_t> dimension_value(const Case& c, const std::string& name) {
  const DimensionName parts = split_dimension(name);
  for (const CaseInput& input : c.inputs)
    if (input.name == parts.input) return value_in(input, parts);
  return std::nullopt;
}

std::vector<Violation> violations(const Contract& contract, const Case& c) { return Checker(contract, c).run(); }

}  // namespace aotifuzz
