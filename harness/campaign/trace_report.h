#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/kernel_trace.h"

namespace aotifuzz {

/// A trace as a table for people: each kernel in order, what it was given and left behind.
void print_trace(const std::vector<TraceCall>& trace, std::ostream& out);

/// Where NaN comes from: the first call that leaves some behind without having been given any, and the first that
/// leaves some behind at all. One sentence.
std::string first_nan(const std::vector<TraceCall>& trace);

/// The calls that `kernel` (a name or a part of it, its last call) depends on, as far as buffers tell: the last call
/// before that left each of its inputs, and so on. In order; ends with the call itself. Empty: no such kernel.
std::vector<TraceCall> upstream(const std::vector<TraceCall>& trace, const std::string& kernel);

}  // namespace aotifuzz
