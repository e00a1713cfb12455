#pragma once

#include "package/kernel_map.h"

namespace aotifuzz::testing {

inline KernelLabel label(const std::string& value, std::vector<Expr> sizes = {Expr::symbol("s0")}) {
  KernelLabel out;
  out.value = value;
  out.strides.assign(sizes.size(), Expr::integer(1));
  out.sizes = std::move(sizes);
  return out;
}

inline KernelArgument buffer(int at, const std::string& name, KernelArgument::Role role, std::vector<KernelLabel> entry,
                             std::vector<KernelLabel> exit) {
  KernelArgument out;
  out.at = at;
  out.name = name;
  out.role = role;
  out.buffer = "buf_" + name;
  out.dtype = Dtype::kF32;
  out.entry = std::move(entry);
  out.exit = std::move(exit);
  return out;
}

/// (a + b) * b by two kernels, the second in place: what tests/support/planted_kernels.h runs. Sizes are s0, which is
/// a.size(0).
inline KernelMap add_mul_map() {
  using Role = KernelArgument::Role;
  KernelMap map;
  const auto tensor = [&](const std::string& name) {
    Argument argument;
    argument.kind = Argument::Kind::kTensor;
    argument.name = name;
    TensorMeta meta;
    meta.dtype = Dtype::kF32;
    meta.sizes = {Expr::symbol("s0")};
    meta.strides = {Expr::integer(1)};
    map.graph.tensors[name] = meta;
    return argument;
  };
  const auto node = [&](const std::string& name, const std::string& target, const std::string& a,
                        const std::string& b) {
    Node out;
    out.name = name;
    out.target = target;
    out.inputs = {{"self", tensor(a), false}, {"other", tensor(b), false}};
    out.outputs = {tensor(name)};
    map.graph.nodes.push_back(std::move(out));
  };
  map.graph.inputs = {tensor("a"), tensor("b")};
  node("add", "torch.ops.aten.add.Tensor", "a", "b");
  node("mul", "torch.ops.aten.mul.Tensor", "add", "b");
  map.graph.outputs = {tensor("mul")};
  for (int64_t i = 0; i < 2; ++i) {
    MapInput input;
    input.kind = MapInput::Kind::kUser;
    input.value = i == 0 ? "a" : "b";
    input.index = i;
    map.inputs.push_back(std::move(input));
  }
  map.symbols["s0"] = {};
  const auto call = [&](const std::string& kernel, std::vector<KernelArgument> arguments) {
    MappedCall out;
    out.kernel = kernel;
    out.arguments = std::move(arguments);
    out.judged = true;
    map.calls.push_back(std::move(out));
  };
  call("cpp_fused_add_0",
       {buffer(0, "in_ptr0", Role::kIn, {label("a")}, {}), buffer(1, "in_ptr1", Role::kIn, {label("b")}, {}),
        buffer(2, "out_ptr0", Role::kOut, {}, {label("add")})});
  call("cpp_fused_mul_1", {buffer(0, "in_out_ptr0", Role::kInOut, {label("add")}, {label("mul")}),
                           buffer(1, "in_ptr0", Role::kIn, {label("b")}, {})});
  return map;
}

}  // namespace aotifuzz::testing
