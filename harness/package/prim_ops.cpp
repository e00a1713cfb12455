#include "package/prim_ops.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace aotifuzz {
namespace {

/// What a prim's argument is called in the ATen op.
struct ArgumentName {
  std::string_view prim, aten;
};

struct PrimRow {
  std::string_view prim, aten;
  std::initializer_list<ArgumentName> arguments;
};

/// torch/_prims/__init__.py says what each means.
const PrimRow kRows[] = {
    {"convert_element_type.default", "_to_copy.default", {{"a", "self"}, {"dtype", "dtype"}}},
    {"device_put.default", "_to_copy.default", {{"a", "self"}, {"device", "device"}, {"non_blocking", "non_blocking"}}},
    {"mul.default", "mul.Tensor", {{"a", "self"}, {"b", "other"}}},
    {"add.default", "add.Tensor", {{"a", "self"}, {"b", "other"}}},
    {"sub.default", "sub.Tensor", {{"a", "self"}, {"b", "other"}}},
    {"view_of.default", "alias.default", {{"a", "self"}}},
    {"view_element_type.default", "view.dtype", {{"a", "self"}, {"dtype", "dtype"}}},
    {"fma.default", "addcmul.default", {{"c", "self"}, {"a", "tensor1"}, {"b", "tensor2"}}},
};

constexpr std::string_view kPrims = "torch.ops.prims.";
constexpr std::string_view kAten = "torch.ops.aten.";

const PrimRow* find_row(std::string_view prim) {
  for (const PrimRow& row : kRows)
    if (row.prim == prim) return &row;
  return nullptr;
}

/// prims.iota(length, start, step, dtype...) counts; aten.arange says start and end. A length that is a symbol only
/// from 0 in steps of 1: the end of others would have to be computed.
void replace_iota(Node& node) {
  Node::Input start, step, length, dtype, device;
  for (const Node::Input& input : node.inputs) {
    if (input.name == "start") start = input;
    if (input.name == "step") step = input;
    if (input.name == "length") length = input;
    if (input.name == "dtype") dtype = input;
    if (input.name == "device") device = input;
  }
  const auto is_int = [](const Node::Input& input) { return input.value.kind == Argument::Kind::kInt; };
  if (!is_int(start) || !is_int(step) || length.name.empty()) return;
  Node::Input end = length;
  end.name = "end";
  end.keyword = false;
  if (start.value.integer == 0 && step.value.integer == 1) {
    node.target = std::string(kAten) + "arange.default";
    node.inputs = {end};
  } else if (int64_t last = 0; is_int(length) &&
                               !__builtin_mul_overflow(length.value.integer, step.value.integer, &last) &&
                               !__builtin_add_overflow(last, start.value.integer, &end.value.integer)) {
    start.keyword = step.keyword = false;
    node.target = std::string(kAten) + "arange.start_step";
    node.inputs = {start, end, step};
  } else {
    return;
  }
  for (const Node::Input& keyword : {dtype, device})
    if (!keyword.name.empty()) node.inputs.push_back(keyword);
}

void replace(Node& node) {
  const std::string prim = node.target.substr(kPrims.size());
  if (prim == "iota.default") return replace_iota(node);
  const PrimRow* row = find_row(prim);
  if (!row) return;
  std::vector<Node::Input> inputs;
  for (Node::Input input : node.inputs) {
    const auto named = std::find_if(row->arguments.begin(), row->arguments.end(),
                                    [&](const ArgumentName& name) { return name.prim == input.name; });
    if (named == row->arguments.end()) return;
    input.name = named->aten;
    inputs.push_back(std::move(input));
  }
  node.inputs = std::move(inputs);
  node.target = std::string(kAten) + std::string(row->aten);
}

}  // namespace

void replace_prims(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (std::string_view(node.target).starts_with(kPrims)) replace(node);
    for (Node::Input& input : node.inputs)
      if (input.value.graph) replace_prims(*input.value.graph);
  }
}

}  // namespace aotifuzz
