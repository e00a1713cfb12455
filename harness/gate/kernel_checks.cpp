#include "gate/kernel_checks.h"

#include <ATen/ATen.h>

#include <cstring>

#include "core/memory_fault.h"

namespace aotifuzz {
namespace {

/// Two patterns without a bit in common with each other's bytes: what both runs show is memory that nobody wrote.
constexpr uint8_t kPoison = KernelMemory::kPoison;
constexpr uint8_t kOtherPoison = 0x5A;
/// Comparing the outputs of two runs must not outweigh the runs.
constexpr int64_t kCompareBytesMax = int64_t{4} << 20;

/// Where threads of a device add up in any order, one repetition may be the same by luck.
constexpr int kRepetitionsOnDevice = 3;

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

bool comparable(const KernelMemory& memory, const at::Tensor& a, const at::Tensor& b) {
  return memory.is_readable(a) && memory.is_readable(b) && a.sizes() == b.sizes() &&
         a.scalar_type() == b.scalar_type() && a.numel() > 0 && static_cast<int64_t>(a.nbytes()) <= kCompareBytesMax;
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
  memory_.begin_run({.poison = poison, .at_start = at_start, .judged = judged});
  torch::jit::Stack stack = call_.arguments(point, RunKind::kKernel);
  const std::vector<at::Tensor> inputs = ArgumentBuilder::tensors_of(stack);
  const std::vector<std::string> names = call_.builder().tensor_names(stack);
  const std::vector<bool> written = call_.builder().declared_written(stack);
  std::vector<std::vector<char>> before;
  memory_.label_inputs(inputs, names);
  for (size_t i = 0; i < inputs.size(); ++i)
    before.push_back(written[i] || !judged ? std::vector<char>() : memory_.storage_bytes(inputs[i]));
  memory_.unread_error();
  CallResult result = call_.run(std::move(stack), point, RunKind::kKernel);
  if (const std::string error = memory_.unread_error(); result.finished && !error.empty()) {
    result.finished = false;
    result.error = "a launch failed, and the kernel does not ask after it: " + error;
  }
  const std::vector<MemoryFault> damages = memory_.end_run();
  for (size_t i = 0; i < inputs.size() && judged; ++i)
    if (!written[i] && memory_.storage_bytes(inputs[i]) != before[i]) sink_(point, changed_input(names[i]));
  for (const MemoryFault& damage : damages)
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
    bytes.push_back(comparable(memory_, output, output) ? memory_.element_bytes(output) : std::vector<char>());
  const CallResult second = guarded(point, kOtherPoison, true, false);
  if (!second.finished || second.outputs.size() != first.outputs.size() || is_random_) return;
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    const at::Tensor &a = first.outputs[i], &b = second.outputs[i];
    if (bytes[i].empty() || !comparable(memory_, a, b)) continue;
    const std::vector<char> other = memory_.element_bytes(b);
    const Unwritten unwritten = compare(bytes[i], other, a.element_size());
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
      const std::optional<bool> same = repeats(point, i, bytes[i], other);
      if (!same) continue;
      if (!*same)
        is_random_ = true;
      else
        sink_(point,
              finding("kernel-reads-unwritten", static_cast<int>(i), which + " depends on memory that nobody wrote",
                      std::to_string(unwritten.differing) + " of " + std::to_string(count) +
                          " elements change with what memory held before"));
    }
  }
}

std::optional<bool> KernelChecks::repeats(const CallPoint& point, size_t output, const std::vector<char>& first,
                                          const std::vector<char>& second) {
  const int repetitions = memory_.is_parallel() ? kRepetitionsOnDevice : 1;
  for (int i = 0; i < repetitions; ++i)
    for (const bool other : {false, true}) {
      if (other && !memory_.is_parallel()) continue;
      const CallResult again = guarded(point, other ? kOtherPoison : kPoison, other, false);
      if (!again.finished || output >= again.outputs.size() ||
          !comparable(memory_, again.outputs[output], again.outputs[output]))
        return std::nullopt;
      if (memory_.element_bytes(again.outputs[output]) != (other ? second : first)) return false;
    }
  return true;
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
