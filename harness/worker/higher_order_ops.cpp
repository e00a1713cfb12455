#include "worker/higher_order_ops.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <stdexcept>
#include <utility>

#include "worker/interpreter.h"

namespace aotifuzz {
namespace {

using Values = std::vector<c10::IValue>;
using Arguments = std::vector<HigherOrderArgument>;

const HigherOrderArgument& at_position(const Arguments& arguments, size_t i) {
  if (i >= arguments.size()) throw std::runtime_error("a higher-order op lacks an argument");
  return arguments[i];
}

const Block& graph_at(const Arguments& arguments, size_t i) {
  const Block* block = at_position(arguments, i).block;
  if (!block) throw std::runtime_error("a higher-order op lacks a sub-graph");
  return *block;
}

/// The list at position `i`; an absent trailing list is an empty one.
Values list_at(const Arguments& arguments, size_t i) {
  if (i >= arguments.size()) return {};
  if (arguments[i].value.isList()) {
    const auto items = arguments[i].value.toListRef();
    return Values(items.begin(), items.end());
  }
  return arguments[i].list;
}

Values joined(Values first, const Values& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

bool truth(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().item().toBool();
  return value.isBool() ? value.toBool() : value.toScalar().toBool();
}

/// cond(predicate, true graph, false graph, operands)
Values cond(Interpreter& interpreter, const Arguments& a) {
  const Block& taken = truth(at_position(a, 0).value) ? graph_at(a, 1) : graph_at(a, 2);
  return interpreter.run(taken, list_at(a, 3));
}

/// while_loop(condition, body, carried, additional). A loop that never runs gives clones of what it carries.
Values while_loop(Interpreter& interpreter, const Arguments& a) {
  const Block &condition = graph_at(a, 0), &body = graph_at(a, 1);
  Values carried = list_at(a, 2);
  const Values additional = list_at(a, 3);
  bool ran = false;
  while (truth(interpreter.run(condition, joined(carried, additional)).at(0))) {
    carried = interpreter.run(body, joined(carried, additional));
    ran = true;
  }
  if (!ran)
    for (c10::IValue& value : carried)
      if (value.isTensor()) value = value.toTensor().clone();
  return carried;
}

/// Element `i` of each tensor along its first dimension.
Values slice_of(const Values& tensors, int64_t i) {
  Values out;
  for (const c10::IValue& value : tensors) out.push_back(value.toTensor().select(0, i));
  return out;
}

int64_t length_of(const Values& xs) {
  if (xs.empty() || xs[0].toTensor().dim() == 0)
    throw std::runtime_error("mapped over something without a first dimension");
  return xs[0].toTensor().size(0);
}

/// Stacks the i-th results of several runs of a sub-graph.
Values stacked(const std::vector<Values>& runs, size_t from) {
  Values out;
  if (runs.empty()) return out;
  for (size_t k = from; k < runs[0].size(); ++k) {
    if (!runs[0][k].isTensor()) {
      out.push_back(c10::IValue());
      continue;
    }
    std::vector<at::Tensor> parts;
    for (const Values& run : runs) parts.push_back(run[k].toTensor());
    out.push_back(at::stack(parts));
  }
  return out;
}

/// map_impl(graph, mapped, positional)
Values map_impl(Interpreter& interpreter, const Arguments& a) {
  const Block& body = graph_at(a, 0);
  const Values xs = list_at(a, 1), positional = list_at(a, 2);
  std::vector<Values> runs;
  const int64_t length = length_of(xs);
  if (length == 0) throw std::runtime_error("map over zero elements");
  for (int64_t i = 0; i < length; ++i) runs.push_back(interpreter.run(body, joined(slice_of(xs, i), positional)));
  return stacked(runs, 0);
}

/// scan(graph, init, xs, additional): results are the last carry, then the stacked outputs. Over zero elements eager
/// runs the graph on a dummy slice that it cannot take either, so it raises.
Values scan(Interpreter& interpreter, const Arguments& a) {
  const Block& body = graph_at(a, 0);
  Values carry = list_at(a, 1);
  const Values xs = list_at(a, 2), additional = list_at(a, 3);
  if (xs.empty()) return carry;
  const size_t carried = carry.size();
  const int64_t length = length_of(xs);
  if (length == 0) throw std::runtime_error("scan over zero elements");
  std::vector<Values> runs;
  for (int64_t i = 0; i < length; ++i) {
    runs.push_back(interpreter.run(body, joined(joined(carry, slice_of(xs, i)), additional)));
    carry.assign(runs.back().begin(), runs.back().begin() + static_cast<std::ptrdiff_t>(carried));
  }
  return joined(carry, stacked(runs, carried));
}

/// wrap_with_set_grad_enabled(enabled, graph, arguments...): nothing here computes gradients.
Values wrap_with_set_grad_enabled(Interpreter& interpreter, const Arguments& a) {
  Values operands;
  for (size_t i = 2; i < a.size(); ++i) operands.push_back(a[i].value);
  return interpreter.run(graph_at(a, 1), std::move(operands));
}

class AutocastState {
 public:
  AutocastState(c10::DeviceType device, std::optional<c10::ScalarType> dtype, bool enabled, bool cache)
      : device_(device),
        enabled_(at::autocast::is_autocast_enabled(device)),
        dtype_(at::autocast::get_autocast_dtype(device)),
        cache_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(device, enabled);
    if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
    at::autocast::set_autocast_cache_enabled(cache);
  }
  ~AutocastState() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, enabled_);
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_cache_enabled(cache_);
  }
  AutocastState(const AutocastState&) = delete;
  AutocastState& operator=(const AutocastState&) = delete;

 private:
  c10::DeviceType device_;
  bool enabled_;
  c10::ScalarType dtype_;
  bool cache_;
};

/// wrap_with_autocast(device type, dtype, enabled, cache enabled, graph, arguments...)
Values wrap_with_autocast(Interpreter& interpreter, const Arguments& a) {
  const c10::DeviceType device = c10::Device(at_position(a, 0).value.toStringRef()).type();
  std::optional<c10::ScalarType> dtype;
  if (const c10::IValue& v = at_position(a, 1).value; v.isInt()) dtype = static_cast<c10::ScalarType>(v.toInt());
  const c10::IValue& cache = at_position(a, 3).value;
  Values operands;
  for (size_t i = 5; i < a.size(); ++i) operands.push_back(a[i].value);
  AutocastState state(device, dtype, truth(at_position(a, 2).value),
                      cache.isNone() ? at::autocast::is_autocast_cache_enabled() : truth(cache));
  return interpreter.run(graph_at(a, 4), std::move(operands));
}

/// invoke_subgraph(graph, identifier, operands...)
Values invoke_subgraph(Interpreter& interpreter, const Arguments& a) {
  Values operands;
  for (size_t i = 2; i < a.size(); ++i) operands.push_back(a[i].value);
  return interpreter.run(graph_at(a, 0), std::move(operands));
}

constexpr std::pair<std::string_view, HigherOrderFunction> kTable[] = {
    {"cond", cond},
    {"while_loop", while_loop},
    {"map_impl", map_impl},
    {"scan", scan},
    {"wrap_with_set_grad_enabled", wrap_with_set_grad_enabled},
    {"wrap_with_autocast", wrap_with_autocast},
    {"invoke_subgraph", invoke_subgraph},
};

}  // namespace

HigherOrderFunction find_higher_order_op(std::string_view name) {
  for (const auto& [key, function] : kTable)
    if (key == name) return function;
  return nullptr;
}

}  // namespace aotifuzz
