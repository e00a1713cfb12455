#include "gate/kernel_checks.h"

#include <ATen/ATen.h>

#include <cstring>

#include "core/memory_fault.h"

namespace aotifuzz {
namespace {

/// Two patterns without a bit in common with each other's bytes: what both runs show is memory that nobody wrote.
constexpr uint8_t kPoison = 0xA5;
constexpr uint8_t kOtherPoison = 0x5A;
/// Comparing the outputs of two runs must not outweigh the runs.
constexpr int64_t kCompareBytesMax = int64_t{4} << 20;

std::vector<char> bytes_of_storage(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || tensor.storage().nbytes() == 0) return {};
  const char* begin = static_cast<const char*>(tensor.storage().data());
  return {begin, begin + tensor.storage().nbytes()};
}

/// Bytes of the elements in order, whatever the strides.
std::vector<char> bytes_of_elements(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.contiguous();
  const char* begin = static_cast<const char*>(dense.const_data_ptr());
  return {begin, begin + dense.nbytes()};
}

struct Unwritten {
  size_t elements = 0;  ///< that hold the pattern in both runs
  size_t first = 0;
  size_t differing = 0;  ///< that differ between the runs without being patterns
};

Unwritten compare(const std::vector<char>& a, const std::vector<char>& b, size_t element_bytes) {
  Unwritten out;
  for (size_t at = 0; at + element_bytes <= a.size(); at += element_bytes) {
    if (std::memcmp(&a[at], &b[at], element_bytes) == 0) continue;
    bool patterns = true;
    for (size_t i = at; i < at + element_bytes; ++i)
      patterns = patterns && static_cast<uint8_t>(a[i]) == kPoison && static_cast<uint8_t>(b[i]) == kOtherPoison;
    if (!patterns) {
      ++out.differing;
      continue;
    }
    if (out.elements++ == 0) out.first = at / element_bytes;
  }
  return out;
}

GateFinding finding(const char* kind, int output, std::string message, std::string actual) {
  GateFinding out;
  out.kind = kind;
  out.output = output;
  out.message = std::move(message);
  out.actual = std::move(actual);
  return out;
}

bool comparable(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.device().is_cpu() && b.device().is_cpu() && a.layout() == at::kStrided &&
         b.layout() == at::kStrided && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && a.numel() > 0 &&
         static_cast<int64_t>(a.nbytes()) <= kCompareBytesMax;
}

}  // namespace

GateFinding KernelChecks::changed_input(const std::string& name) {
  return finding("hidden-mutation", -1, "the kernel changes " + name + ", which the schema does not say",
                 name + " differs after the call");
}

GateFinding KernelChecks::shared_input(int output, const std::string& name) {
  return finding(
      "undeclared-alias", output,
      "output " + std::to_string(output) + " shares the memory of " + name + ", which the schema does not say",
      "the memory of " + name);
}

CallResult KernelChecks::guarded(const CallPoint& point, uint8_t poison, bool at_start, bool judged) {
  allocator_.begin_run(
      {.stage = Stage::kSubject, .poison = poison, .at_start = at_start, .freed = FreedMemory::kFilled});
  torch::jit::Stack stack = call_.arguments(point, RunKind::kKernel);
  const std::vector<at::Tensor> inputs = ArgumentBuilder::tensors_of(stack);
  const std::vector<std::string> names = call_.builder().tensor_names(stack);
  const std::vector<bool> written = call_.builder().declared_written(stack);
  std::vector<std::vector<char>> before;
  for (size_t i = 0; i < inputs.size(); ++i) {
    before.push_back(written[i] ? std::vector<char>() : bytes_of_storage(inputs[i]));
    if (inputs[i].defined() && inputs[i].has_storage() && inputs[i].storage().nbytes() > 0)
      allocator_.label(inputs[i].storage().data(), BufferRole::kInput, names[i]);
  }
  CallResult result = call_.run(std::move(stack), point, RunKind::kKernel);
  for (size_t i = 0; i < inputs.size() && judged; ++i)
    if (!written[i] && bytes_of_storage(inputs[i]) != before[i]) sink_(point, changed_input(names[i]));
  for (const MemoryFault& damage : allocator_.end_run())
    if (judged)
      sink_(point, finding("kernel-overruns", -1, "the kernel " + memory_fault_sentence(damage),
                           memory_fault_sentence(damage)));
  return result;
}

CallResult KernelChecks::run(const CallPoint& point) {
  CallResult result = guarded(point, kPoison, false, true);
  if (!result.finished) return result;
  const torch::jit::Stack stack = call_.builder().build(point, RunKind::kMeta);
  const std::vector<bool> may_alias = call_.builder().declared_aliased(stack);
  const std::vector<std::string> names = call_.builder().tensor_names(stack);
  for (size_t i = 0; i < result.facts.size(); ++i) {
    const int alias = result.facts[i].alias;
    if (alias >= 0 && !may_alias[alias]) sink_(point, shared_input(static_cast<int>(i), names[alias]));
  }
  look_for_unwritten(point, result);
  return result;
}

void KernelChecks::look_for_unwritten(const CallPoint& point, const CallResult& first) {
  std::vector<std::vector<char>> bytes;
  for (const at::Tensor& output : first.outputs)
    bytes.push_back(comparable(output, output) ? bytes_of_elements(output) : std::vector<char>());
  const CallResult second = guarded(point, kOtherPoison, true, false);
  if (!second.finished || second.outputs.size() != first.outputs.size() || is_random_) return;
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    const at::Tensor &a = first.outputs[i], &b = second.outputs[i];
    if (bytes[i].empty() || !comparable(a, b)) continue;
    const Unwritten unwritten = compare(bytes[i], bytes_of_elements(b), a.element_size());
    const size_t count = static_cast<size_t>(a.numel());
    const std::string which = "output " + std::to_string(i);
    if (unwritten.elements == 0 && unwritten.differing == 0) {
      wrote_something_ = true;
    } else if (unwritten.elements == count) {
      wholly_unwritten_.emplace_back(
          point, finding("kernel-unwritten", static_cast<int>(i), "the kernel writes nothing of " + which,
                         "all " + std::to_string(count) + " elements hold what memory held before"));
    } else if (unwritten.elements > 0) {
      wrote_something_ = true;
      sink_(point,
            finding("kernel-unwritten", static_cast<int>(i), "the kernel leaves elements of " + which + " unwritten",
                    std::to_string(unwritten.elements) + " of " + std::to_string(count) +
                        " elements hold what memory held before, the first is element " +
                        std::to_string(unwritten.first)));
    } else {
      // Either it reads what nobody wrote, or it draws random numbers: the same memory twice tells.
      const CallResult again = guarded(point, kPoison, false, false);
      if (!again.finished || again.outputs.size() != first.outputs.size() || !comparable(a, again.outputs[i])) continue;
      if (bytes_of_elements(again.outputs[i]) != bytes[i])
        is_random_ = true;
      else
        sink_(point,
              finding("kernel-reads-unwritten", static_cast<int>(i), which + " depends on memory that nobody wrote",
                      std::to_string(unwritten.differing) + " of " + std::to_string(count) +
                          " elements change with what memory held before"));
    }
  }
}

void KernelChecks::finish(std::vector<std::string>* notes) {
  if (is_random_)
    notes->push_back("two runs on the same memory differ (random numbers?): unwritten elements are not looked for");
  if (wholly_unwritten_.empty()) return;
  if (!wrote_something_) {
    notes->push_back("never writes its outputs, at no size: taken for an operator that only allocates");
    return;
  }
  for (auto& [point, found] : wholly_unwritten_) sink_(point, std::move(found));
}

}  // namespace aotifuzz
