#include "worker/call_sequence.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <malloc.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "oracles/leak_oracle.h"
#include "worker/error_text.h"
#include "worker/kernel_calls.h"
#include "worker/run_values.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.sizes() != b.sizes() || a.strides() != b.strides() || a.scalar_type() != b.scalar_type()) return false;
  const at::Tensor dense_a = a.contiguous(), dense_b = b.contiguous();
  return a.numel() == 0 || std::memcmp(dense_a.const_data_ptr(), dense_b.const_data_ptr(), dense_a.nbytes()) == 0;
}

bool same_bits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return false;
  return true;
}

/// What one of several callers saw.
struct CallerResult {
  Subject::Results last;  ///< on the case's own inputs
  std::vector<at::Tensor> inputs_after;
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
  const std::vector<c10::IValue> inputs = run_values(c, values, parts_.input_devices, parts_.device, tensors);
  return parts_.package->run(inputs, c.input_checks, errors);
}

void CallSequence::run_then(const Case& c, const CaseInputs& own, RunRecord& record) {
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (parts_.recorder) parts_.recorder->set_step("further call " + std::to_string(i + 1));
    for (int n = 0; n < calls_[i].times; ++n) {
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
  const auto caller = [&](size_t number) {
    CallerResult& result = results[number];
    try {
      // Both are a thread's own.
      c10::InferenceMode no_autograd;
      at::set_num_threads(c.threads);
      for (size_t turn = 0; turn < calls * kCallerRounds && !result.differs; ++turn) {
        const size_t at = (turn + number) % calls;
        std::vector<at::Tensor> tensors;
        if (at != 0) {
          call_package(calls_[at - 1].input, *calls_[at - 1].values, nullptr, &tensors);
          continue;
        }
        result.last = call_package(c, own, nullptr, &tensors);
        result.inputs_after = std::move(tensors);
        const bool finished = result.last.outcome.kind == OutcomeKind::kFinished;
        result.differs = finished != (first.outcome.kind == OutcomeKind::kFinished) ||
                         (finished && !same_bits(result.last.outputs, first.outputs));
      }
    } catch (const std::exception& error) {
      result.error = text_of(error);
    }
  };
  // Who notes kernel calls expects them one after another.
  KernelCalls& kernels = KernelCalls::instance();
  KernelObserver* const observer = kernels.observer();
  kernels.set_observer(nullptr);
  if (parts_.recorder) parts_.recorder->set_step(std::to_string(c.callers) + " callers");
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) threads.emplace_back(caller, i);
  for (std::thread& thread : threads) thread.join();
  at::set_num_threads(c.threads);
  kernels.set_observer(observer);
  if (parts_.recorder) parts_.recorder->set_step("");

  CallerResult* shown = &results[0];
  for (CallerResult& result : results) {
    if (!result.error.empty()) throw std::runtime_error(result.error);
    if (result.differs && !shown->differs) shown = &result;
  }
  record.outcome = std::move(shown->last.outcome);
  record.outputs = std::move(shown->last.outputs);
  record.inputs_after = std::move(shown->inputs_after);
}

void CallSequence::run_many(const Case& c, const CaseInputs& own, uint64_t times, RunRecord& record) {
  record.memory_in_use.reserve(times);
  const Clock::time_point start = Clock::now();
  for (uint64_t n = 0; n < times; ++n) {
    if (n >= LeakOracle::kRunsLeast && std::chrono::duration<double>(Clock::now() - start).count() > kManySeconds)
      break;
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
