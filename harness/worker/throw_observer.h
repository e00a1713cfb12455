#pragma once

namespace aotifuzz {

/// A program that links this exports a __cxa_throw of its own, which every library in the process finds first: it tells
/// the observer that this thread is about to throw, then throws. An error's text names functions at best, the stack at
/// that point leads to the line. The observer must not throw.
using ThrowObserver = void (*)();

/// Of all threads; null = nobody. Returns the one before.
ThrowObserver observe_throws(ThrowObserver observer);

/// Whether libraries find it, for tests: a program that does not export its symbols has no effect on them.
bool throws_are_observed();

}  // namespace aotifuzz
