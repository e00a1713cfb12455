#include "worker/throw_observer.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace aotifuzz {
namespace {

using Throw = void (*)(void*, void*, void (*)(void*));

std::atomic<ThrowObserver> told{nullptr};

Throw next_throw() {
  static const Throw next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  return next;
}

}  // namespace

ThrowObserver observe_throws(ThrowObserver observer) { return told.exchange(observer); }

bool throws_are_observed() { return dlsym(RTLD_DEFAULT, "__cxa_throw") != reinterpret_cast<void*>(next_throw()); }

}  // namespace aotifuzz

extern "C" __attribute__((visibility("default"), noreturn)) void __cxa_throw(void* object, void* type,
                                                                             void (*destroy)(void*)) {
  if (const aotifuzz::ThrowObserver observer = aotifuzz::told.load(std::memory_order_relaxed)) observer();
  aotifuzz::next_throw()(object, type, destroy);
  std::abort();  // not reached: the real one does not return
}
