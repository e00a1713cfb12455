#include "worker/saved_tensors.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "core/error.h"
#include "core/shortest_recipe.h"
#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "worker/dtype_map.h"
#include "worker/error_text.h"

namespace aotifuzz {
namespace {

constexpr int kDepthMax = 16;
/// A tensor may be a small view of a large storage: of its offset, what alignment could depend on is kept.
constexpr int64_t kOffsetMax = 4096;
constexpr std::string_view kUnnamed = "unnamed_";

class Flattener {
 public:
  explicit Flattener(std::string folder) : folder_(std::move(folder)) {}

  void add(const c10::IValue& value, const std::string& name, int depth) {
    if (depth > kDepthMax)
      throw std::runtime_error("it is nested deeper than " + std::to_string(kDepthMax) + " levels");
    if (value.isTensor()) {
      add_tensor(value.toTensor(), name);
    } else if (value.isTuple()) {
      for (const c10::IValue& item : value.toTupleRef().elements()) add(item, "", depth + 1);
    } else if (value.isList()) {
      for (const c10::IValue& item : value.toListRef()) add(item, "", depth + 1);
    } else if (value.isGenericDict()) {
      for (const auto& item : value.toGenericDict())
        add(item.value(), item.key().isString() ? item.key().toStringRef() : "", depth + 1);
    } else {
      add_scalar(value, name);
    }
  }
  Case take() { return std::move(case_); }

 private:
  CaseInput& next(const std::string& name) {
    const bool usable = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                        std::all_of(name.begin(), name.end(),
                                    [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); }) &&
                        name.rfind(kUnnamed, 0) != 0 && !names_.count(name);
    CaseInput input;
    input.name = usable ? name : std::string(kUnnamed) + std::to_string(case_.inputs.size());
    names_.insert(input.name);
    return case_.inputs.emplace_back(std::move(input));
  }

  void add_scalar(const c10::IValue& value, const std::string& name) {
    CaseInput& input = next(name);
    if (value.isBool()) {
      input.kind = CaseInput::Kind::kBool;
      input.scalar = int64_t{value.toBool()};
    } else if (value.isInt()) {
      input.kind = CaseInput::Kind::kInt;
      input.scalar = value.toInt();
    } else if (value.isDouble()) {
      input.kind = CaseInput::Kind::kFloat;
      input.scalar = value.toDouble();
    } else if (value.isNone()) {
      input.kind = CaseInput::Kind::kNone;
    } else {
      throw std::runtime_error("it holds a value of type " + value.tagKind() + ", which is no tensor or number");
    }
  }

  void add_tensor(at::Tensor tensor, const std::string& name) {
    CaseInput& input = next(name);
    if (!tensor.defined()) {
      input.kind = CaseInput::Kind::kNone;
      return;
    }
    const auto dtype = from_scalar_type(tensor.scalar_type());
    if (tensor.layout() != at::kStrided || tensor.is_quantized() || !dtype)
      throw std::runtime_error("the tensor " + (name.empty() ? input.name : name) +
                               " is sparse, quantised or of a type that no package takes");
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu();
    input.dtype = *dtype;
    input.sizes = tensor.sizes().vec();
    if (tensor.numel() > 0 && tensor.strides().vec() != CaseInput::dense_strides(input.sizes))
      input.strides = tensor.strides().vec();
    input.offset = tensor.storage_offset() % kOffsetMax;
    // Before it is laid out: a tensor that is expanded is small in its file only.
    if (static_cast<size_t>(tensor.numel()) > kReadMax / tensor.element_size())
      throw std::runtime_error("the tensor " + (name.empty() ? input.name : name) + " has more than 256 MiB");
    const at::Tensor dense = tensor.contiguous();
    const auto* bytes = static_cast<const uint8_t*>(dense.data_ptr());
    input.values = shortest_recipe(folder_ + "/" + input.name + ".npy", *dtype, {bytes, bytes + dense.nbytes()});
  }

  std::string folder_;
  Case case_;
  std::set<std::string> names_;
};

}  // namespace

int print_saved_tensors(const std::string& path, const std::string& folder) {
  std::string text;
  int code = kExitNoFaults;
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    // To the host, whatever device they were saved from.
    const c10::IValue value =
        torch::jit::readArchiveAndTensors("data", "", "", std::nullopt, std::nullopt, c10::Device(c10::kCPU), reader);
    Flattener flattener(folder);
    flattener.add(value, "", 0);
    text = print_case(keep_case_files(flattener.take(), folder));
  } catch (const c10::Error& error) {
    code = kExitWorld;
    // What libtorch's reader takes is less than what torch.save writes.
    std::string words = clean_error(error.what_without_backtrace());
    words = words.substr(0, words.find('\n'));
    // Where it is surprised by what it reads it asks for a report to PyTorch: no news to anybody.
    if (words.find("INTERNAL ASSERT") != std::string::npos) words.clear();
    text =
        "error: libtorch cannot read what it holds (of a state_dict save dict(state); sparse and quantised tensors, "
        "modules and other objects are no inputs of a package)" +
        (words.empty() ? "" : ": " + words) + "\n";
  } catch (const std::exception& error) {
    code = kExitWorld;
    text = "error: " + clean_error(error.what()) + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return code;
}

}  // namespace aotifuzz
