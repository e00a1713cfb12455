#include "worker/throw_stack.h"

#include <execinfo.h>

namespace aotifuzz {
namespace {

/// Deeper than any op below a package's run.
constexpr int kFramesMax = 64;
/// note() and __cxa_throw.
constexpr int kOwnFrames = 2;

thread_local ThrowStack* current = nullptr;

}  // namespace

ThrowStack::ThrowStack() {
  current = this;
  before_ = observe_throws(&ThrowStack::note);
}

ThrowStack::~ThrowStack() {
  observe_throws(before_);
  current = nullptr;
}

void ThrowStack::note() {
  if (!current || !current->frames_.empty()) return;
  void* frames[kFramesMax];
  const int count = backtrace(frames, kFramesMax);
  for (int i = kOwnFrames; i < count; ++i) current->frames_.push_back(reinterpret_cast<uint64_t>(frames[i]));
}

}  // namespace aotifuzz
