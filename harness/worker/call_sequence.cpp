#include "worker/call_sequence.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "oracles/host_values.h"
#include "worker/device_graph.h"
#include "worker/error_text.h"
#include "worker/kernel_calls.h"
#include "worker/run_values.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kTooSlow = "too slow: the calls of the case take longer than two seconds";

/// Time for calls, from now on.
class Budget {
 public:
  bool spent() const { return std::chrono::duration<double>(Clock::now() - begin_).count() > CallSequence::kSeconds; }

 private:
  Clock::time_point begin_ = Clock::now();
};

/// Bit for bit, NaN equal to NaN.
bool same(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.sizes() != b.sizes() || a.strides() != b.strides() || a.scalar_type() != b.scalar_type()) return false;
  if (a.numel() == 0) return true;
  const at::Tensor dense_a = a.contiguous(), dense_b = b.contiguous();
  if (std::memcmp(dense_a.const_data_ptr(), dense_b.const_data_ptr(), dense_a.nbytes()) == 0) return true;
  const HostValues values_a(a), values_b(b);
  for (int64_t i = 0; i < values_a.size(); ++i)
    if (!HostValues::same(values_a, values_b, i)) return false;
  return true;
}

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return same(x, y); });
}

/// Who notes kernel calls expects them one after another: while this lives, nobody does.
class NobodyWatches {
 public:
  NobodyWatches() : observer_(KernelCalls::instance().observer()) { KernelCalls::instance().set_observer(nullptr); }
  ~NobodyWatches() { KernelCalls::instance().set_observer(observer_); }
  NobodyWatches(const NobodyWatches&) = delete;
  NobodyWatches& operator=(const NobodyWatches&) = delete;

 private:
  KernelObserver* observer_;
};

/// What one of several callers saw.
struct CallerResult {
  Subject::Results last;  ///< on the case's own inputs
  std::vector<at::Tensor> inputs_after;
  bool called = false;  ///< at least once, on these
  bool differs = false;
  std::string error;  ///< inputs could not be made
};

}  // namespace

int64_t memory_in_use(GuardAllocator* allocator) {
  const struct mallinfo2 info = mallinfo2();
  const size_t guarded = allocator ? allocator->live_bytes() : 0;
  return static_cast<int64_t>(info.uordblks + info.hblkhd + guarded);
}

std::string CallSequence::why_not(const Call& call) const {
  if (call.input.inputs.size() != parts_.contract->inputs.size())
    return "it has another number of inputs than the program";
  if (const auto broken = violations(*parts_.contract, call.input); !broken.empty())
    return "it lies outside the contract: " + broken[0].text;
  if (!parts_.reference) return "";
  std::vector<at::Tensor> tensors;
  const std::vector<c10::IValue> values = run_values(call.input, *call.values, {}, nullptr, &tensors);
  const ReferenceProgram::Results results = parts_.reference->run(values, {.recorder = parts_.recorder});
  if (results.outcome.kind == OutcomeKind::kFinished) return "";
  return "the reference does not finish on it";
}

std::string CallSequence::prepare(const Case& c) {
  if (calls_.size() == c.then.size()) return "";
  calls_.clear();
  std::vector<Call> made;
  for (size_t i = 0; i < c.then.size(); ++i) {
    Call call;
    call.input = c.call(i);
    call.times = c.then[i].times;
    made.push_back(std::move(call));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].input.inputs.size() == parts_.contract->inputs.size())
      made[i].values = std::make_unique<CaseInputs>(made[i].input);
    if (std::string why = why_not(made[i]); !why.empty()) return "further call " + std::to_string(i + 1) + ": " + why;
  }
  calls_ = std::move(made);
  return "";
}

Subject::Results CallSequence::call_package(const Case& c, const CaseInputs& values, StderrCapture* errors,
                                            std::vector<at::Tensor>* tensors) const {
  const std::vector<c10::Device> devices =
      parts_.device ? input_devices(c, parts_.input_devices, parts_.device->device()) : std::vector<c10::Device>();
  const std::vector<c10::IValue> inputs = run_values(c, values, devices, parts_.device, tensors);
  return parts_.package->run(inputs, c.input_checks, errors);
}

void CallSequence::run_then(const Case& c, const CaseInputs& own, RunRecord& record) {
  const Budget budget;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (parts_.recorder) parts_.recorder->set_step("further call " + std::to_string(i + 1));
    for (int n = 0; n < calls_[i].times; ++n) {
      if (budget.spent()) {
        record.not_made = kTooSlow;
        return;
      }
      std::vector<at::Tensor> tensors;
      call_package(calls_[i].input, *calls_[i].values, parts_.errors, &tensors);
    }
  }
  if (parts_.recorder) parts_.recorder->set_step("");
  Subject::Results results = call_package(c, own, parts_.errors, &record.inputs_after);
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
}

void CallSequence::run_callers(const Case& c, const CaseInputs& own, const RunRecord& first, RunRecord& record) {
  std::vector<CallerResult> results(static_cast<size_t>(c.callers));
  const size_t calls = calls_.size() + 1;
  const Budget budget;
  const auto caller = [&](size_t number) {
    CallerResult& result = results[number];
    try {
      // Both are a thread's own.
      c10::InferenceMode no_autograd;
      at::set_num_threads(c.threads);
      for (size_t turn = 0; turn < calls * kCallerRounds && !result.differs && !budget.spent(); ++turn) {
        const size_t at = (turn + number) % calls;
        std::vector<at::Tensor> tensors;
        if (at != 0) {
          call_package(calls_[at - 1].input, *calls_[at - 1].values, nullptr, &tensors);
          continue;
        }
        result.last = call_package(c, own, nullptr, &tensors);
        result.inputs_after = std::move(tensors);
        result.called = true;
        const bool finished = result.last.outcome.kind == OutcomeKind::kFinished;
        result.differs =
            finished != (first.outcome.kind == OutcomeKind::kFinished) ||
            (finished && !(same(result.last.outputs, first.outputs) && same(result.inputs_after, first.inputs_after)));
      }
    } catch (const std::exception& error) {
      result.error = text_of(error);
    }
  };
  if (parts_.recorder) parts_.recorder->set_step(std::to_string(c.callers) + " callers");
  {
    const NobodyWatches kernels_run_side_by_side;
    std::vector<std::jthread> threads;
    try {
      for (size_t i = 0; i < results.size(); ++i) threads.emplace_back(caller, i);
    } catch (const std::system_error&) {
      record.not_made = "several callers: no further thread can be made";
    }
  }
  at::set_num_threads(c.threads);
  if (parts_.recorder) parts_.recorder->set_step("");
  if (!record.not_made.empty()) return;

  CallerResult* shown = &results[0];
  for (CallerResult& result : results) {
    if (!result.error.empty()) throw std::runtime_error(result.error);
    if (!result.called) record.not_made = kTooSlow;
    if (result.differs && !shown->differs) shown = &result;
  }
  if (shown->differs) record.not_made.clear();
  record.outcome = std::move(shown->last.outcome);
  record.outputs = std::move(shown->last.outputs);
  record.inputs_after = std::move(shown->inputs_after);
}

void CallSequence::run_many(const Case& c, const CaseInputs& own, uint64_t times, RunRecord& record) {
  record.memory_in_use.reserve(times);
  const Budget budget;
  for (uint64_t n = 0; n < times && !budget.spent(); ++n) {
    {
      std::vector<at::Tensor> tensors;
      const Subject::Results results = call_package(c, own, parts_.errors, &tensors);
      record.outcome.kind = results.outcome.kind;
      if (results.outcome.kind == OutcomeKind::kOutOfMemory) return;
    }
    record.memory_in_use.push_back(memory_in_use(parts_.allocator));
  }
}

}  // namespace aotifuzz
