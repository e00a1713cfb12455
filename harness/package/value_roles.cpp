#include "package/value_roles.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace aotifuzz {
namespace {

using RoleKind = ValueRole::Kind;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

/// "torch.ops.aten.mul_.Tensor" is op "aten.mul_.Tensor" with base name "mul_".
std::string_view op_of(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

std::string_view base_name(std::string_view op) {
  const size_t space = op.find('.');
  if (space == std::string_view::npos) return op;
  const std::string_view rest = op.substr(space + 1);
  return rest.substr(0, rest.find('.'));
}

// The result holds elements of the first argument, with the same values (up to a cast).
bool carries_values(std::string_view name) {
  return is_one_of(name, {"slice",
                          "select",
                          "view",
                          "reshape",
                          "t",
                          "transpose",
                          "permute",
                          "expand",
                          "expand_as",
                          "unsqueeze",
                          "squeeze",
                          "squeeze_copy",
                          "narrow",
                          "diagonal",
                          "as_strided",
                          "detach",
                          "alias",
                          "view_as",
                          "reshape_as",
                          "unfold",
                          "flatten",
                          "unflatten",
                          "chunk",
                          "split",
                          "split_with_sizes",
                          "tensor_split",
                          "unbind",
                          "movedim",
                          "swapaxes",
                          "numpy_T",
                          "mT",
                          "contiguous",
                          "to",
                          "_to_copy",
                          "type_as",
                          "clone",
                          "lift_fresh_copy",
                          "ravel",
                          "real",
                          "view_as_real",
                          "view_as_complex",
                          "broadcast_to",
                          "_unsafe_view",
                          "long",
                          "int",
                          "atleast_1d"});
}

// Of those, the ones whose result never shares memory with the argument.
bool copies(std::string_view name) { return is_one_of(name, {"clone", "_to_copy", "lift_fresh_copy", "squeeze_copy"}); }

int rank(RoleKind kind) {
  static constexpr std::array kOrder = {RoleKind::kPlain,  RoleKind::kMask,  RoleKind::kDivisor, RoleKind::kShift,
                                        RoleKind::kSorted, RoleKind::kCount, RoleKind::kOffsets, RoleKind::kIndex};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), kind) - kOrder.begin());
}

/// Walks one graph and its sub-graphs.
class Learner {
 public:
  Learner(const Program& program, const std::function<Expr(const Expr&)>& to_dimensions)
      : program_(program), to_dimensions_(to_dimensions) {}

  std::map<std::string, InputUse> run() {
    std::map<std::string, Origin> origins;
    for (const GraphInput& input : program_.inputs) {
      if (input.kind != GraphInput::Kind::kUser) continue;
      uses_[input.name];
      origins[input.name] = {input.name, true};
      const auto meta = program_.graph.tensors.find(input.name);
      if (meta != program_.graph.tensors.end() && meta->second.dtype == Dtype::kBool)
        learn(origins[input.name], RoleKind::kMask, "torch.bool");
    }
    walk(program_.graph, std::move(origins));
    for (const GraphOutput& output : program_.outputs)
      if (output.kind == GraphOutput::Kind::kUserInputMutation && uses_.contains(output.target))
        uses_[output.target].mutated = true;
    for (const auto& [input, halves] : offset_halves_)
      if (halves == 3) learn({input, true}, RoleKind::kOffsets, "aten.slice.Tensor", offsets_total(input));
    return std::move(uses_);
  }

 private:
  /// The user input whose elements a value holds.
  struct Origin {
    std::string input;
    bool aliases = false;  ///< may share memory with it
  };

  void learn(const Origin& origin, RoleKind kind, std::string_view op, std::optional<Expr> bound = std::nullopt) {
    ValueRole& role = uses_[origin.input].role;
    if (rank(kind) < rank(role.kind) || (rank(kind) == rank(role.kind) && role.bound)) return;
    role = {kind, std::move(bound), std::string(op)};
  }

  /// One node with what is needed to look at its arguments.
  struct View {
    const Graph& graph;
    const Node& node;
    std::map<std::string, Origin>& origins;

    const Argument* argument(std::string_view name) const {
      for (const Node::Input& input : node.inputs)
        if (input.name == name) return &input.value;
      return nullptr;
    }
    const Origin* origin(const Argument* argument) const {
      if (argument == nullptr || argument->name.empty()) return nullptr;
      const auto it = origins.find(argument->name);
      return it == origins.end() ? nullptr : &it->second;
    }
    const Origin* origin(std::string_view name) const { return origin(argument(name)); }
    const TensorMeta* meta(std::string_view name) const {
      const Argument* value = argument(name);
      return value == nullptr ? nullptr : meta(*value);
    }
    const TensorMeta* meta(const Argument& value) const {
      const auto it = graph.tensors.find(value.name);
      return it == graph.tensors.end() ? nullptr : &it->second;
    }
    int64_t integer(std::string_view name, int64_t otherwise) const {
      const Argument* value = argument(name);
      return value != nullptr && value->kind == Argument::Kind::kInt ? value->integer : otherwise;
    }
  };

  std::optional<Expr> size_of(const TensorMeta* meta, int64_t dim) const {
    if (meta == nullptr) return std::nullopt;
    if (dim < 0) dim += static_cast<int64_t>(meta->sizes.size());
    if (dim < 0 || dim >= static_cast<int64_t>(meta->sizes.size())) return std::nullopt;
    return to_dimensions_(meta->sizes[dim]);
  }

  std::optional<Expr> numel_of(const TensorMeta* meta) const {
    if (meta == nullptr || meta->sizes.empty()) return std::nullopt;
    std::vector<Expr> sizes;
    for (const Expr& size : meta->sizes) sizes.push_back(to_dimensions_(size));
    return Expr::make(ExprOp::kMul, std::move(sizes));
  }

  void walk(const Graph& graph, std::map<std::string, Origin> origins) {
    for (const Node& node : graph.nodes) {
      const std::string_view op = op_of(node.target);
      const View view{graph, node, origins};
      look_at_mutation(view, base_name(op));
      look_at_use(view, op, base_name(op));
      carry(view, base_name(op));
      enter_subgraphs(view);
    }
  }

  void look_at_mutation(const View& view, std::string_view name) {
    if (!name.ends_with("_") || name.ends_with("__") || view.node.inputs.empty()) return;
    const Origin* origin = view.origin(&view.node.inputs[0].value);
    if (origin != nullptr && origin->aliases) uses_[origin->input].mutated = true;
  }

  void carry(const View& view, std::string_view name) {
    const bool item = name == "item" || name == "_local_scalar_dense";
    const bool in_place = name.ends_with("_") && !name.ends_with("__");
    if ((!carries_values(name) && !item && !in_place) || view.node.inputs.empty()) return;
    const Origin* found = view.origin(&view.node.inputs[0].value);
    if (found == nullptr) return;
    const Origin origin{found->input, found->aliases && !copies(name) && !item};
    for (const Argument& output : view.node.outputs) {
      if (!output.name.empty()) view.origins[output.name] = origin;
      for (const Argument& element : output.items)
        if (!element.name.empty()) view.origins[element.name] = origin;
    }
  }

  // cond(pred, true_graph, false_graph, [operands]), while_loop, map: operands are the sub-graph's inputs by position.
  void enter_subgraphs(const View& view) {
    for (const Node::Input& input : view.node.inputs) {
      if (!input.value.graph) continue;
      const Graph& inner = *input.value.graph;
      std::vector<const Argument*> operands;
      for (const Node::Input& other : view.node.inputs)
        if (other.value.kind == Argument::Kind::kList)
          for (const Argument& item : other.value.items) operands.push_back(&item);
      std::map<std::string, Origin> origins;
      for (size_t i = 0; i < inner.inputs.size() && i < operands.size(); ++i)
        if (const Origin* origin = view.origin(operands[i])) origins[inner.inputs[i].name] = *origin;
      walk(inner, std::move(origins));
    }
  }

  void look_at_use(const View& view, std::string_view op, std::string_view name) {
    const auto use = [&](std::string_view argument, RoleKind kind, std::optional<Expr> bound = std::nullopt) {
      if (const Origin* origin = view.origin(argument)) learn(*origin, kind, op, std::move(bound));
    };
    if (name == "embedding") {
      use("indices", RoleKind::kIndex, size_of(view.meta("weight"), 0));
    } else if (is_one_of(name, {"embedding_bag", "_embedding_bag", "_embedding_bag_forward_only"})) {
      use("indices", RoleKind::kIndex, size_of(view.meta("weight"), 0));
      use("offsets", RoleKind::kOffsets, size_of(view.meta("indices"), 0));
    } else if (is_one_of(name, {"index_select", "gather", "scatter", "scatter_", "scatter_add", "scatter_add_",
                                "scatter_reduce", "scatter_reduce_", "index_add", "index_add_", "index_copy",
                                "index_copy_", "index_fill", "index_fill_", "index_reduce", "index_reduce_"})) {
      use("index", RoleKind::kIndex, size_of(view.meta("self"), view.integer("dim", 0)));
    } else if (is_one_of(name, {"take_along_dim"})) {
      use("indices", RoleKind::kIndex, size_of(view.meta("self"), view.integer("dim", 0)));
    } else if (is_one_of(name, {"take", "put", "put_"})) {
      use("index", RoleKind::kIndex, numel_of(view.meta("self")));
    } else if (is_one_of(name, {"index", "index_put", "index_put_", "_unsafe_index", "_unsafe_index_put"})) {
      use_indices(view, op);
    } else if (name == "one_hot") {
      const int64_t classes = view.integer("num_classes", -1);
      use("self", RoleKind::kIndex, classes > 0 ? std::optional(Expr::integer(classes)) : std::nullopt);
    } else if (is_one_of(name, {"nll_loss", "nll_loss_nd", "nll_loss_forward", "cross_entropy_loss"})) {
      const TensorMeta* target = view.meta("target");
      if (target != nullptr && dtype_is_integral(target->dtype))
        use("target", RoleKind::kIndex, size_of(view.meta("self"), 1));
    } else if (name == "repeat_interleave") {
      use("repeats", RoleKind::kCount);
    } else if (name == "bincount") {
      use("self", RoleKind::kCount);
    } else if (name == "searchsorted") {
      use("sorted_sequence", RoleKind::kSorted);
    } else if (name == "bucketize") {
      use("boundaries", RoleKind::kSorted);
    } else if (is_one_of(name, {"div", "div_", "divide", "true_divide", "floor_divide", "floor_divide_", "remainder",
                                "remainder_", "fmod", "fmod_"})) {
      use("other", RoleKind::kDivisor);
    } else if (is_one_of(name, {"__lshift__", "__rshift__", "__ilshift__", "__irshift__", "bitwise_left_shift",
                                "bitwise_right_shift"})) {
      use("other", RoleKind::kShift);
    } else if (name == "select") {
      use("index", RoleKind::kIndex, size_of(view.meta("self"), view.integer("dim", 0)));
    } else if (name == "narrow") {
      use("start", RoleKind::kIndex, size_of(view.meta("self"), view.integer("dim", 0)));
      use("length", RoleKind::kCount, size_of(view.meta("self"), view.integer("dim", 0)));
    } else if (name == "slice") {
      use("start", RoleKind::kIndex, size_of(view.meta("self"), view.integer("dim", 0)));
      use("end", RoleKind::kCount, size_of(view.meta("self"), view.integer("dim", 0)));
      look_for_offsets(view);
    } else if (is_one_of(name, {"zeros", "ones", "full", "empty", "new_zeros", "new_ones", "new_full", "new_empty"})) {
      if (const Argument* size = view.argument("size"))
        for (const Argument& item : size->items)
          if (const Origin* origin = view.origin(&item)) learn(*origin, RoleKind::kCount, op);
    } else if (name == "arange") {
      use("end", RoleKind::kCount);
    }
  }

  // x[i, :, m]: entry k of `indices` indexes dimension k; a bool mask covers as many dimensions as it has.
  void use_indices(const View& view, std::string_view op) {
    const Argument* list = view.argument("indices");
    if (list == nullptr) return;
    int64_t dim = 0;
    for (const Argument& index : list->items) {
      const TensorMeta* meta = view.meta(index);
      const bool mask = meta != nullptr && meta->dtype == Dtype::kBool;
      if (const Origin* origin = view.origin(&index))
        learn(*origin, mask ? RoleKind::kMask : RoleKind::kIndex, op,
              mask ? std::nullopt : size_of(view.meta("self"), dim));
      dim += mask ? static_cast<int64_t>(meta->sizes.size()) : 1;
    }
  }

  // offsets[1:] and offsets[:-1] of one integer vector: the bounds of consecutive segments.
  void look_for_offsets(const View& view) {
    const TensorMeta* meta = view.meta("self");
    const Origin* origin = view.origin("self");
    if (origin == nullptr || meta == nullptr || meta->sizes.size() != 1 || !dtype_is_integral(meta->dtype)) return;
    constexpr int64_t kFar = int64_t{1} << 62;
    const int64_t start = view.integer("start", 0), end = view.integer("end", kFar);
    if (start == 1 && end >= kFar) offset_halves_[origin->input] |= 1;
    if (start == 0 && end == -1) offset_halves_[origin->input] |= 2;
  }

  // What the segments partition: the first dimension of the first other tensor input that has one of its own.
  std::optional<Expr> offsets_total(const std::string& offsets) const {
    const auto own = program_.graph.tensors.find(offsets);
    for (const GraphInput& input : program_.inputs) {
      const auto meta = program_.graph.tensors.find(input.name);
      if (input.kind != GraphInput::Kind::kUser || input.name == offsets || meta == program_.graph.tensors.end())
        continue;
      if (meta->second.sizes.empty()) continue;
      if (own != program_.graph.tensors.end() && own->second.sizes[0] == meta->second.sizes[0]) continue;
      return to_dimensions_(meta->second.sizes[0]);
    }
    return std::nullopt;
  }

  const Program& program_;
  const std::function<Expr(const Expr&)>& to_dimensions_;
  std::map<std::string, InputUse> uses_;
  std::map<std::string, int> offset_halves_;  ///< bit 0: [1:] seen, bit 1: [:-1] seen
};

}  // namespace

std::map<std::string, InputUse> learn_input_uses(const Program& program,
                                                 const std::function<Expr(const Expr&)>& to_dimensions) {
  return Learner(program, to_dimensions).run();
}

}  // namespace aotifuzz
