#include "worker/kernel_capture.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/check.h"
#include "worker/device_copies.h"
#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

constexpr size_t kRegisters = 6;  ///< KernelCall::integers

std::optional<uint64_t> word_of(const KernelCall& call, int index) {
  if (index < 0) return std::nullopt;
  const auto i = static_cast<size_t>(index);
  if (i < kRegisters) return call.integers[i];
  if (i - kRegisters < call.stack_words) return call.stack[i - kRegisters];
  return std::nullopt;
}

/// "const AtenTensorHandle**" -> 2; -1 for what is no handle.
int handle_depth(const std::string& type) {
  const size_t name = type.find("AtenTensorHandle");
  if (name == type.npos) return -1;
  return static_cast<int>(std::count(type.begin() + static_cast<long>(name), type.end(), '*'));
}

/// A list has one level more, and all but its innermost may be null.
const at::Tensor* follow(uint64_t word, int depth, int element) {
  if (element >= 0) {
    if (word == 0 || depth == 0) return nullptr;
    word = reinterpret_cast<const uint64_t*>(word)[element];
    --depth;
  }
  for (; depth > 0 && word != 0; --depth) word = *reinterpret_cast<const uint64_t*>(word);
  return reinterpret_cast<const at::Tensor*>(word);
}

bool is_floating_parameter(const std::string& type) {
  return type.find('*') == std::string::npos && (type.find("double") != type.npos || type.find("float") != type.npos);
}

std::optional<std::vector<int64_t>> numbers(const std::vector<Expr>& expressions, const Expr::Lookup& lookup) {
  std::vector<int64_t> out;
  out.reserve(expressions.size());
  for (const Expr& expression : expressions) {
    const std::optional<int64_t> value = expression.evaluate(lookup);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

/// Elements from the least to past the greatest that a layout touches; offset not counted. 0 for no elements.
std::optional<int64_t> span_of(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0) return std::nullopt;
    if (sizes[i] == 0) return 0;
    int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  return last + 1;
}

/// All with one wait for the device. Copies hold nothing that another of them views.
void bring_home(std::vector<CapturedCall>* calls) {
  std::vector<at::Tensor*> places;
  std::vector<at::Tensor> there;
  for (CapturedCall& call : *calls)
    for (std::vector<at::Tensor>* tensors : {&call.entries, &call.exits})
      for (at::Tensor& tensor : *tensors) {
        places.push_back(&tensor);
        there.push_back(tensor);
      }
  const std::vector<at::Tensor> home = copied_to(there, c10::kCPU);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = home[i];
}

}  // namespace

KernelCapture::KernelCapture(const KernelMap& map, const std::vector<CapturePlan>& plans) : map_(map), plans_(plans) {
  AOTIFUZZ_CHECK(map.calls.size() == plans.size()) << map.calls.size() << " calls, " << plans.size() << " plans";
  for (const MappedCall& call : map.calls) {
    std::vector<Word> words;
    for (const KernelArgument& argument : call.arguments) {
      Word word;
      if (call.kind == MappedCall::Kind::kCpp || call.kind == MappedCall::Kind::kTriton) {
        word.index = argument.at;
      } else if (call.kind == MappedCall::Kind::kShim && argument.at < static_cast<int>(call.signature.size())) {
        word.handle = handle_depth(call.signature[argument.at]);
        // Deeper ones without an element are lists that the map says nothing about.
        if (word.handle < 0 || word.handle > (argument.element >= 0 ? 2 : 1)) {
          words.push_back(word);
          continue;
        }
        word.index = 0;
        for (int i = 0; i < argument.at; ++i) word.index += !is_floating_parameter(call.signature[i]);
      }
      words.push_back(word);
    }
    words_.push_back(std::move(words));
  }
}

void KernelCapture::begin(std::span<const at::Tensor> inputs) {
  if (!host_) host_.emplace();
  host_->clear();
  if (device_) device_->clear();
  calls_.clear();
  symbols_.clear();
  next_ = 0;
  inside_ = false;
  for (const auto& [name, source] : map_.symbols) {
    if (source.input < 0 || source.input >= static_cast<int64_t>(inputs.size())) continue;
    const at::Tensor& input = inputs[source.input];
    if (!input.defined() || source.dim < 0 || source.dim >= input.dim()) continue;
    const int64_t number = source.stride ? input.stride(source.dim) : input.size(source.dim);
    if (number % source.by == 0) symbols_[name] = number / source.by;
  }
  KernelCalls& calls = KernelCalls::instance();
  behind_ = calls.observer();
  calls.set_observer(this);
}

std::vector<CapturedCall> KernelCapture::end() {
  KernelCalls::instance().set_observer(behind_);
  behind_ = nullptr;
  // The run ended within it, by an exception.
  if (inside_) calls_.pop_back();
  inside_ = false;
  if (device_) bring_home(&calls_);
  return std::move(calls_);
}

std::optional<int64_t> KernelCapture::symbol(const std::string& name) const {
  if (const auto known = symbols_.find(name); known != symbols_.end()) return known->second;
  const auto precomputed = map_.precomputed.find(name);
  if (precomputed == map_.precomputed.end()) return std::nullopt;
  return precomputed->second.evaluate([&](const std::string& other) -> std::optional<int64_t> {
    const auto known = symbols_.find(other);
    return known == symbols_.end() ? std::nullopt : std::optional<int64_t>(known->second);
  });
}

/// Calls that did not happen (an empty tensor) are passed over; one that the map does not know changes nothing.
std::optional<size_t> KernelCapture::find_call(const KernelCall& call) const {
  for (size_t i = next_; i < map_.calls.size(); ++i)
    if (map_.calls[i].kernel == call.name) return i;
  return std::nullopt;
}

std::optional<KernelCapture::Buffer> KernelCapture::buffer_of(const KernelCall& call, size_t mapped,
                                                              size_t argument) const {
  const MappedCall& to = map_.calls[mapped];
  Buffer buffer;
  if (to.kind == MappedCall::Kind::kProxy) {
    // (executor, node, number of ints, ints, number of tensors, tensors)
    constexpr int kCount = 4, kTensors = 5;
    const std::optional<uint64_t> count = word_of(call, kCount), tensors = word_of(call, kTensors);
    const auto at = static_cast<uint64_t>(to.arguments[argument].at);
    if (!count || !tensors || at >= *count || *tensors == 0) return std::nullopt;
    buffer.tensor = reinterpret_cast<at::Tensor* const*>(*tensors)[at];
  } else {
    const Word& word = words_[mapped][argument];
    const std::optional<uint64_t> value = word_of(call, word.index);
    if (!value || *value == 0) return std::nullopt;
    if (word.handle < 0) {
      buffer.data = reinterpret_cast<void*>(*value);
      buffer.on_device = to.kind == MappedCall::Kind::kTriton && device_;
      return buffer;
    }
    buffer.tensor = follow(*value, word.handle, to.arguments[argument].element);
  }
  if (!buffer.tensor || !buffer.tensor->defined() || !buffer.tensor->has_storage()) return std::nullopt;
  buffer.data = buffer.tensor->data_ptr();
  buffer.on_device = device_ && buffer.tensor->device() == device_->device();
  if (!buffer.on_device && !buffer.tensor->is_cpu()) return std::nullopt;
  return buffer;
}

at::Tensor KernelCapture::read(const KernelCall& call, size_t mapped, const CapturePlan::Read& wanted,
                               std::string* failure) {
  const KernelArgument& argument = map_.calls[mapped].arguments[wanted.argument];
  const KernelLabel& label = (wanted.on_entry ? argument.entry : argument.exit)[wanted.label];
  const auto fail = [&](std::string why) {
    *failure = std::move(why);
    return at::Tensor();
  };
  const std::optional<Buffer> buffer = buffer_of(call, mapped, wanted.argument);
  const Expr::Lookup lookup = [&](const std::string& name) { return symbol(name); };
  std::optional<std::vector<int64_t>> sizes = numbers(label.sizes, lookup), strides = numbers(label.strides, lookup);
  std::optional<int64_t> offset = label.offset.evaluate(lookup);
  if (!buffer) {
    // Tensors without elements have no memory.
    const bool empty = sizes && strides && std::find(sizes->begin(), sizes->end(), 0) != sizes->end();
    const c10::ScalarType type = to_scalar_type(argument.dtype);
    if (!empty || type == c10::ScalarType::Undefined) return fail("an argument that is no plain tensor");
    return at::empty_strided(*sizes, *strides, at::TensorOptions(type));
  }
  if (!sizes || !strides || !offset) {
    // A tensor knows its own layout; a pointer does not.
    if (!buffer->tensor || buffer->tensor->dim() != static_cast<int64_t>(label.sizes.size()))
      return fail("a size that depends on values");
    sizes = buffer->tensor->sizes().vec();
    strides = buffer->tensor->strides().vec();
    offset = 0;
  }
  const c10::ScalarType type = buffer->tensor ? buffer->tensor->scalar_type() : to_scalar_type(argument.dtype);
  const std::optional<int64_t> span = span_of(*sizes, *strides);
  if (type == c10::ScalarType::Undefined || !span || *offset < 0) return fail("a buffer of unknown layout");
  const auto element = static_cast<int64_t>(c10::elementSize(type));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*span, element, &bytes)) return fail("a buffer of unknown layout");
  const char* from = static_cast<const char*>(buffer->data) + *offset * element;
  Snapshots& snapshots = buffer->on_device ? *device_ : *host_;
  char* copied = const_cast<char*>(snapshots.copy(from, static_cast<size_t>(bytes)));
  if (!copied) return fail("a buffer that is smaller than its layout, or no room for a copy of it");
  at::Tensor out = at::for_blob(copied, *sizes)
                       .strides(*strides)
                       .options(at::TensorOptions(type).device(snapshots.device()))
                       .target_device(snapshots.device())
                       .make_tensor();
  // Conjugation and negation may be a mark on the tensor, with the memory as it was.
  if (buffer->tensor && buffer->tensor->is_conj()) out._set_conj(true);
  if (buffer->tensor && buffer->tensor->is_neg()) out._set_neg(true);
  return out;
}

/// Sizes that only values decide become known with the first tensor that has them.
void KernelCapture::bind_symbols(const KernelCall& call, size_t mapped) {
  const MappedCall& to = map_.calls[mapped];
  if (to.kind == MappedCall::Kind::kCpp) return;
  for (size_t i = 0; i < to.arguments.size(); ++i)
    for (const KernelLabel& label : to.arguments[i].exit)
      for (size_t dim = 0; dim < label.sizes.size(); ++dim) {
        const Expr& size = label.sizes[dim];
        if (size.op() != ExprOp::kSymbol || symbol(size.name())) continue;
        const std::optional<Buffer> buffer = buffer_of(call, mapped, i);
        if (buffer && buffer->tensor && buffer->tensor->dim() == static_cast<int64_t>(label.sizes.size()))
          symbols_[size.name()] = buffer->tensor->size(static_cast<int64_t>(dim));
      }
}

void KernelCapture::read_all(const KernelCall& call, bool on_entry) {
  CapturedCall& captured = calls_.back();
  for (const CapturePlan::Read& wanted : plans_[captured.call].reads)
    if (wanted.on_entry == on_entry)
      (on_entry ? captured.entries : captured.exits).push_back(read(call, captured.call, wanted, &captured.failure));
}

void KernelCapture::before(const KernelCall& call) {
  if (behind_) behind_->before(call);
  if (inside_) return;  // an op of torch that calls back
  const std::optional<size_t> mapped = find_call(call);
  if (!mapped) return;
  next_ = *mapped + 1;
  calls_.push_back({.call = *mapped});
  inside_ = true;
  read_all(call, /*on_entry=*/true);
}

void KernelCapture::after(const KernelCall& call) {
  if (behind_) behind_->after(call);
  if (!inside_ || calls_.empty() || map_.calls[calls_.back().call].kernel != call.name) return;
  inside_ = false;
  bind_symbols(call, calls_.back().call);
  read_all(call, /*on_entry=*/false);
}

}  // namespace aotifuzz
