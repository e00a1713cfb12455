#include "package/kernel_slice.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace aotifuzz {
namespace {

using Kind = Argument::Kind;
using Leaf = KernelSlice::Leaf;

bool is_value(const Argument& argument) {
  return argument.kind == Kind::kTensor || argument.kind == Kind::kSymInt || argument.kind == Kind::kSymFloat ||
         argument.kind == Kind::kSymBool;
}

void for_each_name(const Argument& argument, const std::function<void(const Argument&)>& visit) {
  if (is_value(argument) && !argument.name.empty()) visit(argument);
  for (const Argument& item : argument.items) for_each_name(item, visit);
}

Argument tensor_argument(const std::string& name) {
  Argument argument;
  argument.kind = Kind::kTensor;
  argument.name = name;
  return argument;
}

class Slicer {
 public:
  explicit Slicer(const KernelMap& map) : map_(map) {
    for (size_t i = 0; i < map.graph.nodes.size(); ++i)
      for (const Argument& output : map.graph.nodes[i].outputs)
        for_each_name(output, [&](const Argument& value) { maker_.emplace(value.name, i); });
  }

  void hold(const MappedCall& call) {
    for (size_t i = 0; i < call.arguments.size(); ++i)
      for (size_t k = 0; k < call.arguments[i].entry.size(); ++k) {
        const KernelLabel& label = call.arguments[i].entry[k];
        // The value itself rather than what must be computed from the buffer.
        const auto held = held_.find(label.value);
        if (held != held_.end() && label.rule != KernelLabel::Rule::kSame) continue;
        held_[label.value] = {.kind = Leaf::Kind::kHeld, .value = label.value, .argument = i, .label = k};
      }
  }
  void allow_user_inputs() { user_inputs_ = true; }

  /// Position of the node that makes `value`; inputs of the graph come before all nodes.
  long order_of(const std::string& value) const {
    const auto found = maker_.find(value);
    return found == maker_.end() ? -1 : static_cast<long>(found->second);
  }

  Result<KernelSlice> take(const std::vector<std::string>& values) {
    bool ok = true;
    for (const std::string& value : values) ok = ok && need(tensor_argument(value));
    // From the last node backwards: what a node needs is made before it.
    while (ok && !open_.empty()) {
      const size_t index = *open_.rbegin();
      open_.erase(index);
      nodes_.insert(index);
      ok = need_inputs_of(index);
    }
    if (!ok) return parse_error(why_, "extra/kernel_map.json");
    return finish(values);
  }

 private:
  bool refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }

  bool add_leaf(Leaf leaf, const Argument& argument) {
    leaf.value = argument.name;
    done_.insert(argument.name);
    slice_.leaves.push_back(std::move(leaf));
    GraphInput input;
    input.name = argument.name;
    input.value = argument;
    slice_.program.inputs.push_back(std::move(input));
    slice_.program.graph.inputs.push_back(argument);
    return true;
  }

  bool need(const Argument& argument) {
    const std::string& name = argument.name;
    if (done_.contains(name)) return true;
    if (const auto held = held_.find(name); held != held_.end()) return add_leaf(held->second, argument);
    if (const auto number = map_.graph.sym_ints.find(name); number != map_.graph.sym_ints.end())
      if (is_known(number->second))
        return add_leaf({.kind = Leaf::Kind::kSymbol, .expression = number->second}, argument);
    if (const MapInput* input = map_.find_input(name)) return add_input(*input, argument);
    const auto maker = maker_.find(name);
    if (maker == maker_.end()) return refuse("no node makes " + name);
    if (maker->second >= before_) return refuse("the graph's nodes are not in the order of execution");
    if (!nodes_.contains(maker->second)) open_.insert(maker->second);
    return true;
  }

  /// Can the expression be computed from the sizes of the package's inputs?
  bool is_known(const Expr& expression) const {
    std::set<std::string> symbols;
    expression.collect_symbols(symbols);
    if (expression.has_opaque()) return false;
    return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return map_.symbols.contains(s); });
  }

  bool add_input(const MapInput& input, const Argument& argument) {
    switch (input.kind) {
      case MapInput::Kind::kConstant:
        return add_leaf({.kind = Leaf::Kind::kConstant, .fqn = input.fqn}, argument);
      case MapInput::Kind::kLiteral:
        return add_leaf({.kind = Leaf::Kind::kLiteral, .input = static_cast<size_t>(&input - map_.inputs.data())},
                        argument);
      case MapInput::Kind::kUser:
        if (user_inputs_ && input.index >= 0)
          return add_leaf({.kind = Leaf::Kind::kUser, .input = static_cast<size_t>(input.index)}, argument);
        return refuse("needs input " + input.value + ", which the call is not given");
      case MapInput::Kind::kUnknown:
        break;
    }
    return refuse("needs " + input.value + ", whose source is not known");
  }

  bool need_inputs_of(size_t index) {
    before_ = index;
    bool ok = true;
    for (const Node::Input& input : map_.graph.nodes[index].inputs)
      for_each_name(input.value, [&](const Argument& value) { ok = ok && need(value); });
    return ok;
  }

  Result<KernelSlice> finish(const std::vector<std::string>& values) {
    Graph& graph = slice_.program.graph;
    for (size_t index : nodes_) graph.nodes.push_back(map_.graph.nodes[index]);
    // Metas of everything that the nodes name: dtypes of arguments and results decide what the referee may do.
    const auto keep_meta = [&](const Argument& value) {
      if (const auto meta = map_.graph.tensors.find(value.name); meta != map_.graph.tensors.end())
        graph.tensors.insert(*meta);
      if (const auto number = map_.graph.sym_ints.find(value.name); number != map_.graph.sym_ints.end())
        graph.sym_ints.insert(*number);
    };
    for (const Node& node : graph.nodes) {
      for (const Node::Input& input : node.inputs) for_each_name(input.value, keep_meta);
      for (const Argument& output : node.outputs) for_each_name(output, keep_meta);
    }
    for (const Argument& input : graph.inputs) keep_meta(input);
    for (const std::string& value : values) {
      GraphOutput output;
      output.value = tensor_argument(value);
      graph.outputs.push_back(output.value);
      slice_.program.outputs.push_back(std::move(output));
    }
    return std::move(slice_);
  }

  const KernelMap& map_;
  std::map<std::string, size_t> maker_;
  std::map<std::string, Leaf> held_;
  bool user_inputs_ = false;
  std::set<std::string> done_;     ///< values that are leaves
  std::set<size_t> nodes_, open_;  ///< by position, which is an order of execution; open: their inputs are yet to come
  size_t before_ = SIZE_MAX;       ///< makers must come before this node
  KernelSlice slice_;
  std::string why_;
};

}  // namespace

Result<KernelSlice> slice_of_call(const KernelMap& map, const MappedCall& call) {
  Slicer slicer(map);
  slicer.hold(call);
  std::vector<std::string> values;
  std::vector<KernelSlice::Output> outputs;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const std::vector<KernelLabel>& labels = call.arguments[i].exit;
    std::optional<size_t> first;
    for (size_t k = 0; k < labels.size(); ++k)
      if (!first || slicer.order_of(labels[k].value) < slicer.order_of(labels[*first].value)) first = k;
    if (!first) continue;
    values.push_back(labels[*first].value);
    outputs.push_back({i, *first});
  }
  if (values.empty()) return parse_error("no value of the graph is left in its buffers", call.kernel);
  Result<KernelSlice> slice = slicer.take(values);
  if (slice) slice->outputs = std::move(outputs);
  return slice;
}

Result<KernelSlice> slice_of_values(const KernelMap& map, const std::vector<std::string>& values) {
  Slicer slicer(map);
  slicer.allow_user_inputs();
  return slicer.take(values);
}

}  // namespace aotifuzz
