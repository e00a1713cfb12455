#pragma once

#include <string_view>

#include "worker/flat_program.h"

namespace aotifuzz {

/// The functions that export calls on symbolic numbers, with Python's meaning: // and % round toward minus infinity,
/// / gives a float, ** of an int by a negative int gives a float, and/or on bools stay bools. Table in the .cpp file.
/// nullptr for a target that is not in the table. The functions throw std::runtime_error where Python raises, and
/// also where an integer leaves 64 bits (Python's would not: no size or index can be that large).
NumberFunction find_number_function(std::string_view target);

}  // namespace aotifuzz
