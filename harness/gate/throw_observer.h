#pragma once

namespace aotifuzz {

/// The program exports a __cxa_throw of its own, which every library in the process finds first: it tells the symbolic
/// run of this thread where an exception is thrown (SymbolicRun::note_throw()), then throws. An error's text names
/// functions at best, the stack leads to the user's line.
///
/// True when that is in place, for tests: a program that does not export its symbols has no effect on libraries.
bool throws_are_observed();

}  // namespace aotifuzz
