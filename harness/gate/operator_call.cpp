#include "gate/operator_call.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>

#include "gate/aten_rules.h"
#include "gate/symbolic_tensor.h"
#include "worker/error_text.h"

namespace aotifuzz {
namespace {

/// The variant without overload name that takes the same arguments but for those that are written at the end.
std::optional<c10::OperatorHandle> functional_variant(const c10::OperatorHandle& op, const DrawnArguments& drawn,
                                                      std::vector<size_t>* outs) {
  const auto& arguments = op.schema().arguments();
  if (op.schema().overload_name().empty()) return std::nullopt;
  const auto found = c10::Dispatcher::singleton().findSchema({op.schema().name(), ""});
  if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::Meta)) return std::nullopt;
  const auto& fewer = found->schema().arguments();
  if (fewer.size() >= arguments.size()) return std::nullopt;
  for (size_t i = 0; i < fewer.size(); ++i)
    if (fewer[i].name() != arguments[i].name() || *fewer[i].real_type() != *arguments[i].real_type())
      return std::nullopt;
  for (size_t i = fewer.size(); i < arguments.size(); ++i) {
    const bool written = arguments[i].alias_info() && arguments[i].alias_info()->isWrite();
    if (!written || arguments[i].real_type()->kind() != c10::TypeKind::TensorType || drawn.from_spec[i])
      return std::nullopt;
    outs->push_back(i);
  }
  return found;
}

/// Making a tensor asks whether a size is negative. Only while a run lives are the symbols' bounds and values known
/// that tell: without one S-5 counts as negative.
class KnownSymbols {
 public:
  KnownSymbols(RunKind kind, const SymbolValues& values, const SymbolValues& least,
               const std::vector<std::string>& names) {
    if (kind != RunKind::kSymbolic) return;
    run_.emplace(values, least, names);
    pause_.emplace();
  }

 private:
  std::optional<SymbolicRun> run_;
  std::optional<SymbolicRun::Pause> pause_;
};

std::string full_name(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

}  // namespace

OperatorCall::OperatorCall(const c10::OperatorHandle& op, const DrawnArguments& drawn, c10::Device device)
    : op_(op), drawn_(drawn), builder_(op_.schema(), drawn, device) {
  for (const SpecSymbol& symbol : drawn.symbols) {
    names_.push_back(symbol.name);
    least_.push_back(symbol.min);
  }
  functional_ = functional_variant(op, drawn, &outs_);
}

void OperatorCall::size_outs(torch::jit::Stack* stack, const CallPoint& point, RunKind kind) const {
  const RunKind asked = kind == RunKind::kKernel ? RunKind::kMeta : kind;
  torch::jit::Stack fewer = build(point, asked);
  fewer.resize(functional_->schema().arguments().size());
  const CallResult declared = call(*functional_, std::move(fewer), point, asked);
  if (!declared.finished || declared.outputs.size() != outs_.size()) return;
  const KnownSymbols known(kind, point.values, least_, names_);
  for (size_t i = 0; i < outs_.size(); ++i) {
    const at::Tensor& like = declared.outputs[i];
    if (kind == RunKind::kSymbolic)
      (*stack)[outs_[i]] = SymbolicTensor::make(like.sym_sizes().vec(), like.sym_strides().vec(), 0, like.scalar_type(),
                                                op_.schema().arguments()[outs_[i]].name());
    else
      (*stack)[outs_[i]] = at::empty_strided(
          like.sizes(), like.strides(),
          like.options().device(kind == RunKind::kKernel ? builder_.device() : at::Device(at::kMeta)));
  }
}

torch::jit::Stack OperatorCall::build(const CallPoint& point, RunKind kind) const {
  const KnownSymbols known(kind, point.values, least_, names_);
  return builder_.build(point, kind);
}

torch::jit::Stack OperatorCall::arguments(const CallPoint& point, RunKind kind) const {
  torch::jit::Stack stack = build(point, kind);
  if (functional_) size_outs(&stack, point, kind);
  return stack;
}

CallResult OperatorCall::run(torch::jit::Stack arguments, const CallPoint& point, RunKind kind) const {
  return call(op_, std::move(arguments), point, kind);
}

CallResult OperatorCall::call(const c10::OperatorHandle& op, torch::jit::Stack stack, const CallPoint& point,
                              RunKind kind) const {
  CallResult result;
  result.inputs = ArgumentBuilder::tensors_of(stack);
  std::optional<SymbolicRun> run;
  std::optional<AtenRules::Scope> rules;
  if (kind != RunKind::kKernel) {
    run.emplace(point.values, least_, names_);
    rules.emplace();
  }
  try {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    op.callBoxed(stack);
    result.finished = true;
  } catch (const c10::Error& error) {
    result.error = clean_error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    result.error = clean_error(error.what());
  }
  // The guard's std::bad_alloc, or the words of torch's allocator.
  result.out_of_memory = !result.finished && is_out_of_memory(result.error);
  rules.reset();
  if (run) {
    SymbolicRun::Pause pause;
    if (!result.finished) result.throw_frames = run->throw_frames();
    result.events = run->events();
    result.unruled = run->unruled();
    result.read_data = run->read_data();
    if (run->without_meta() != full_name(op.operator_name())) result.without_meta = run->without_meta();
  }
  if (!result.finished) return result;
  result.outputs = ArgumentBuilder::tensors_of(stack);
  SymbolicRun::Pause pause;
  // A meta tensor stands for one on the device of the inputs.
  const bool has_tensors =
      std::any_of(result.inputs.begin(), result.inputs.end(), [](const at::Tensor& input) { return input.defined(); });
  for (const at::Tensor& output : result.outputs) {
    result.facts.push_back(TensorFacts::of(output, result.inputs));
    if (has_tensors && output.defined())
      result.facts.back().device = run && output.is_meta() ? builder_.device() : output.device();
    const bool stored = run && output.defined() && output.has_storage();
    result.made_frames.push_back(stored ? run->made_at(output.storage().unsafeGetStorageImpl()) : std::vector<void*>());
    if (run && result.made_frames.back().empty()) result.made_frames.back() = run->made_at(nullptr);
  }
  return result;
}

std::vector<void*> OperatorCall::locate_in_kernel(const CallPoint& point, int output) const {
  torch::jit::Stack stack = arguments(point, RunKind::kKernel);
  const SymbolicRun run(point.values, least_, names_);
  const AtenRules::Scope rules;
  try {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    op_.callBoxed(stack);
  } catch (const std::exception&) {
    return run.made_at(nullptr);  // how far it came is enough
  }
  const auto outputs = ArgumentBuilder::tensors_of(stack);
  if (output < 0 || output >= static_cast<int>(outputs.size()) || !outputs[output].has_storage())
    return run.made_at(nullptr);
  const auto made = run.made_at(outputs[output].storage().unsafeGetStorageImpl());
  return made.empty() ? run.made_at(nullptr) : made;
}

}  // namespace aotifuzz
