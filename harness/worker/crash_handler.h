#pragma once

#include "core/flight_recorder.h"

namespace aotifuzz {

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that write signal and address to the recorder and
/// then let the signal kill the process as it would have. They run on a stack of their own, so a stack overflow is
/// reported too. `recorder` may be null: then only the death itself tells.
void install_crash_handlers(FlightRecorder* recorder);

}  // namespace aotifuzz
