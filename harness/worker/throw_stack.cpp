#include "worker/throw_stack.h"

#include <execinfo.h>

namespace aotifuzz {
namespace {

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
  if (current && current->count_ == 0) current->count_ = backtrace(current->frames_, kFramesMax);
}

std::vector<uint64_t> ThrowStack::frames() const {
  std::vector<uint64_t> out;
  for (int i = kOwnFrames; i < count_; ++i) out.push_back(reinterpret_cast<uint64_t>(frames_[i]));
  return out;
}

}  // namespace aotifuzz
