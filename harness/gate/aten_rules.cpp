#include "gate/aten_rules.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>

#include "gate/aten_example.h"
#include "gate/aten_shape_rules.h"
#include "gate/symbolic_run.h"
#include "gate/symbolic_tensor.h"

namespace aotifuzz {
namespace {

SymSizes sizes_of(const at::Tensor& tensor) { return tensor.sym_sizes().vec(); }

bool is_pointwise(const c10::OperatorHandle& op) {
  return op.hasTag(at::Tag::pointwise) && op.schema().returns().size() == 1;
}

bool pointwise_rule(AtenCall& call) {
  if (call.op().schema().is_mutable()) return call.returns({call.tensor(0)});  // in place: sizes stay
  SymSizes sizes;
  bool first = true;
  for (size_t i = 0; i < call.count(); ++i) {
    if (!call.at(i).isTensor() || !call.tensor(i).defined()) continue;
    sizes = first ? sizes_of(call.tensor(i)) : broadcast(sizes, sizes_of(call.tensor(i)));
    first = false;
  }
  const at::Tensor like = example_result(call);
  SymSizes strides = strides_ordered_as(sizes, like);
  return call.returns({SymbolicTensor::make(std::move(sizes), std::move(strides), 0, like.scalar_type())});
}

/// With plain sizes ATen's Meta kernels are right, where there are any: aten::relu has none.
bool lacks_meta_kernel(const c10::OperatorHandle& op) {
  for (const auto key :
       {c10::DispatchKey::Meta, c10::DispatchKey::CompositeImplicitAutograd,
        c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::CompositeExplicitAutogradNonFunctional})
    if (op.hasKernelForDispatchKey(key)) return false;
  return true;
}

bool is_on_meta(const AtenCall& call) {
  for (size_t i = 0; i < call.count(); ++i)
    if (call.at(i).isTensor() && call.tensor(i).defined() && call.tensor(i).is_meta()) return true;
  return false;
}

bool plain_meta_rule(AtenCall& call) {
  if (call.op().schema().is_mutable()) return false;
  const at::Tensor like = example_result(call);
  return call.returns({at::empty_strided(like.sizes(), like.strides(), like.options().device(at::kMeta))});
}

/// ATen's own kernel, on behalf of the meta.
void call_below(const c10::OperatorHandle& op, c10::DispatchKeySet below, const std::string& unruled,
                torch::jit::Stack* stack) {
  SymbolicRun::InsideAten inside(unruled);
  op.redispatchBoxed(below, stack);
}

void dispatch(const c10::OperatorHandle& op, c10::DispatchKeySet below, const std::string& name,
              torch::jit::Stack* stack) {
  AtenCall call(op, stack);
  const auto rule = aten_shape_rules().find(name);
  if (!call.is_symbolic()) {
    if (lacks_meta_kernel(op) && is_on_meta(call)) {
      if (is_pointwise(op) && plain_meta_rule(call)) return;
      if (rule != aten_shape_rules().end() && rule->second(call)) return;
      SymbolicRun::note_without_meta(name);
    }
    return op.redispatchBoxed(below, stack);
  }
  if (is_pointwise(op)) {
    if (pointwise_rule(call)) return;
  } else if (rule != aten_shape_rules().end() && rule->second(call)) {
    return;
  }
  call_below(op, below, name, stack);
  if (op.schema().is_mutable()) return;
  for (size_t i = stack->size() - op.schema().returns().size(); i < stack->size(); ++i)
    if ((*stack)[i].isTensor()) (*stack)[i] = SymbolicTensor::listening((*stack)[i].toTensor());
}

/// Of the tensors among the last `count` values.
std::vector<const void*> storages(const torch::jit::Stack& stack, size_t count) {
  std::vector<const void*> out;
  for (size_t i = stack.size() - count; i < stack.size(); ++i)
    if (stack[i].isTensor() && stack[i].toTensor().defined() && stack[i].toTensor().has_storage())
      out.push_back(stack[i].toTensor().storage().unsafeGetStorageImpl());
  return out;
}

void intercept(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::OperatorName name = op.operator_name();
  const auto below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kAtenRulesKey);
  const std::string full = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
  if (name.name.rfind("aten::", 0) != 0) {
    const bool python =
        c10::Dispatcher::singleton().getPyStub(name) && !op.hasKernelForDispatchKey(c10::DispatchKey::Meta);
    if (python || lacks_meta_kernel(op)) SymbolicRun::note_without_meta(full);
    return op.redispatchBoxed(below, stack);
  }
  if (name.name == "aten::item" || name.name == "aten::_local_scalar_dense" || name.name == "aten::nonzero")
    SymbolicRun::note_data_read(name.name);
  const std::vector<const void*> given = storages(*stack, op.schema().arguments().size());
  dispatch(op, below, full, stack);
  SymbolicRun::note_made(nullptr);
  for (const void* storage : storages(*stack, op.schema().returns().size()))
    if (std::find(given.begin(), given.end(), storage) == given.end()) SymbolicRun::note_made(storage);
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&intercept>());
}

}  // namespace

AtenRules::Scope::Scope() : was_(c10::impl::tls_is_dispatch_key_included(kAtenRulesKey)) {
  c10::impl::tls_set_dispatch_key_included(kAtenRulesKey, true);
}
AtenRules::Scope::~Scope() { c10::impl::tls_set_dispatch_key_included(kAtenRulesKey, was_); }

std::vector<std::string> AtenRules::names() {
  std::vector<std::string> out;
  for (const auto& [name, rule] : aten_shape_rules()) out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace aotifuzz
