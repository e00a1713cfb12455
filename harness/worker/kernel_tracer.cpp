#include "worker/kernel_tracer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/npy.h"
#include "oracles/host_values.h"
#include "worker/dtype_map.h"

namespace aotifuzz {
namespace {

constexpr size_t kRegisters = 6;  ///< KernelCall::integers
constexpr int64_t kFirstValues = 8;

/// Bytes from the first to past the last element.
size_t bytes_of(const TensorLayouts::Layout& layout) {
  int64_t last = 0;
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] == 0) return 0;
    last += (layout.sizes[i] - 1) * layout.strides[i];
  }
  return static_cast<size_t>(last + 1) * c10::elementSize(layout.dtype);
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.nbytes() == y.nbytes() && (x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

std::string launch_text(const LaunchShape& shape) {
  const auto text = [](const unsigned(&size)[3]) {
    return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
  };
  return "grid " + text(shape.grid) + ", block " + text(shape.block);
}

}  // namespace

std::optional<TraceOptions> trace_options(const WorkerArguments& arguments) {
  if (!arguments.trace) return std::nullopt;
  return TraceOptions{*arguments.trace, arguments.trace_kernels, arguments.save};
}

void add_statistics(const at::Tensor& tensor, TraceLevel level, TraceTensor* out) {
  if (level == TraceLevel::kNames) return;
  const HostValues values(tensor);
  out->has_stats = true;
  out->elements = values.size();
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < values.size(); ++i) {
    const double x = values.is_floating() ? values.real(i) : static_cast<double>(values.integer(i));
    if (std::isnan(x)) {
      ++out->nans;
    } else if (std::isinf(x)) {
      ++out->infinities;
    } else {
      out->least = finite ? std::min(out->least, x) : x;
      out->greatest = finite ? std::max(out->greatest, x) : x;
      sum += x;
      ++finite;
    }
  }
  if (finite) out->mean = sum / static_cast<double>(finite);
  if (level != TraceLevel::kValues) return;
  for (int64_t i = 0; i < std::min(values.size(), kFirstValues); ++i)
    out->first_values += (i ? ", " : "") + values.text(i);
  if (values.size() > kFirstValues) out->first_values += ", ...";
}

void write_npy(const at::Tensor& tensor, const std::string& path) {
  // NumPy has no name for the floating types of 8 bits and bf16; their values are kept, not their bits.
  const auto named = [](const at::Tensor& t) {
    const std::optional<Dtype> dtype = from_scalar_type(t.scalar_type());
    return dtype && numpy_descr(*dtype).find('V') == std::string::npos;
  };
  const at::Tensor dense = (named(tensor) ? tensor : tensor.to(at::kFloat)).contiguous();
  const auto* data = static_cast<const uint8_t*>(dense.data_ptr());
  const std::string text =
      print_npy(*from_scalar_type(dense.scalar_type()), dense.sizes().vec(), {data, data + dense.nbytes()});
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    throw HarnessError("a tensor cannot be saved", path, "check the folder given with --save and its free space");
}

std::optional<KernelArgument::Role> KernelTracer::role_of(std::string_view kernel, size_t word) const {
  if (!map_) return std::nullopt;
  for (const MappedCall& call : map_->calls)
    if (call.kernel == kernel)
      for (const KernelArgument& argument : call.arguments)
        if (static_cast<size_t>(argument.at) == word) return argument.role;
  return std::nullopt;
}

void KernelTracer::begin(const KernelMap* map) {
  map_ = map;
  written_.clear();
  if (!host_) host_.emplace();
  forget_copies();
  layouts_.clear();
  calls_.clear();
  depth_ = ordinal_ = 0;
  behind_ = KernelCalls::instance().observer();
  KernelCalls::instance().set_observer(this);
}

void KernelTracer::forget_copies() {
  host_->clear();
  if (device_) device_->clear();
}

std::vector<TraceCall> KernelTracer::end() {
  KernelCalls::instance().set_observer(behind_);
  behind_ = nullptr;
  if (depth_ > 0 && wanted_) {
    TraceCall& thrown = calls_.emplace_back();
    thrown.ordinal = ordinal_;
    thrown.kernel = current_;
    for (const Tensor& tensor : tensors_) thrown.given.push_back(describe(tensor, tensor.before, "given"));
    thrown.verdict = "raised an error";
  }
  depth_ = 0;
  forget_copies();
  return std::move(calls_);
}

bool KernelTracer::is_wanted(std::string_view kernel) const {
  return options_.kernels.empty() ||
         std::any_of(options_.kernels.begin(), options_.kernels.end(),
                     [&](const std::string& part) { return kernel.find(part) != kernel.npos; });
}

/// Names alone need none where the map says what is given and what is left.
bool KernelTracer::needs_bytes() const {
  return !map_ || options_.level != TraceLevel::kNames || !options_.folder.empty();
}

/// What lies there now, on the CPU; undefined: it cannot be read.
at::Tensor KernelTracer::copied(const Tensor& tensor) {
  const TensorLayouts::Layout& layout = tensor.layout;
  const bool on_device = device_ && layout.device == device_->device();
  if (!on_device && !layout.device.is_cpu()) return {};
  Snapshots& snapshots = on_device ? *device_ : *host_;
  char* const copy = const_cast<char*>(snapshots.copy(tensor.pointer, bytes_of(layout)));
  if (!copy) return {};
  return at::for_blob(copy, layout.sizes)
      .strides(layout.strides)
      .options(at::TensorOptions(layout.dtype).device(layout.device))
      .target_device(layout.device)
      .make_tensor()
      .cpu();
}

void KernelTracer::collect(const KernelCall& call) {
  tensors_.clear();
  const bool is_generated = call.launch || call.name.starts_with("cpp_");
  // The words behind a call's own are those of its caller; a shim's handles are no data pointers.
  if (!is_generated) return;
  for (size_t i = 0; i < kRegisters + call.stack_words; ++i) {
    const uint64_t word = i < kRegisters ? call.integers[i] : call.stack[i - kRegisters];
    const TensorLayouts::Layout* layout = layouts_.find(reinterpret_cast<const void*>(word));
    if (!layout) {
      if (i >= kRegisters && !call.launch) break;
      continue;
    }
    Tensor tensor;
    tensor.word = i;
    tensor.pointer = reinterpret_cast<const void*>(word);
    tensor.layout = *layout;
    if (needs_bytes()) tensor.before = copied(tensor);
    tensors_.push_back(std::move(tensor));
  }
}

void KernelTracer::before(const KernelCall& call) {
  if (TensorLayouts::is_data_pointer_call(call)) return;
  if (behind_) behind_->before(call);
  if (depth_++ > 0) return;
  ++ordinal_;
  current_ = call.name;
  wanted_ = is_wanted(call.name);
  if (wanted_) collect(call);
}

void KernelTracer::after(const KernelCall& call) {
  if (TensorLayouts::is_data_pointer_call(call)) {
    layouts_.note(call);
    return;
  }
  if (behind_) behind_->after(call);
  if (--depth_ > 0 || !wanted_) return;
  TraceCall traced;
  traced.ordinal = ordinal_;
  traced.kernel = call.name;
  if (call.launch) traced.launch = launch_text(*call.launch);
  for (const Tensor& tensor : tensors_) {
    const at::Tensor now = needs_bytes() ? copied(tensor) : at::Tensor();
    const bool changed = tensor.before.defined() && now.defined() && !same_bytes(tensor.before, now);
    const std::optional<KernelArgument::Role> role = role_of(call.name, tensor.word);
    // Without a map: memory that no call left anything in was not given.
    const bool given = role ? *role != KernelArgument::Role::kOut : !changed || written_.contains(tensor.pointer);
    const bool left = role ? *role != KernelArgument::Role::kIn : changed;
    if (given) traced.given.push_back(describe(tensor, tensor.before, "given"));
    if (left) traced.left.push_back(describe(tensor, now, "left"));
    if (left) written_.insert(tensor.pointer);
  }
  // What was copied is described; an exception would have left it for the next call.
  forget_copies();
  calls_.push_back(std::move(traced));
}

TraceTensor KernelTracer::describe(const Tensor& tensor, const at::Tensor& values, const char* when) const {
  TraceTensor out;
  out.name = "argument " + std::to_string(tensor.word + 1);
  const std::optional<Dtype> dtype = from_scalar_type(tensor.layout.dtype);
  out.dtype = dtype ? std::string(dtype_name(*dtype)) : c10::toString(tensor.layout.dtype);
  out.sizes = tensor.layout.sizes;
  out.address = reinterpret_cast<uint64_t>(tensor.pointer);
  if (!values.defined()) return out;
  add_statistics(values, options_.level, &out);
  if (!options_.folder.empty())
    out.file = save(values, std::to_string(ordinal_) + "-" + when + "-" + std::to_string(tensor.word + 1));
  return out;
}

std::string KernelTracer::save(const at::Tensor& tensor, const std::string& what) const {
  const std::string path = options_.folder + "/" + what + ".npy";
  write_npy(tensor, path);
  return path;
}

}  // namespace aotifuzz
