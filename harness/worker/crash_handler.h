#pragma once

#include "core/flight_recorder.h"
#include "worker/guard_allocator.h"

namespace aotifuzz {

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that write to the recorder: signal and address,
/// what the address is to `allocator` and whether it was read or written, and the stack as raw addresses
/// (crash_symbols.h turns them into names). Then the signal kills the process as it would have. They run on a stack
/// of their own, so a stack overflow is reported too. When several threads fault at once the first one is recorded.
/// `recorder` may be null: then only the death itself tells. `allocator` may be null: then no memory is guarded.
void install_crash_handlers(FlightRecorder* recorder, const GuardAllocator* allocator = nullptr);

}  // namespace aotifuzz
