#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "core/error.h"

namespace aotifuzz {

/// What the dynamic section of a shared library says, read without loading it.
struct SharedLibrary {
  uint16_t machine = 0;           ///< EM_X86_64...
  std::set<std::string> needed;   ///< libraries: "libtorch_cuda.so"
  std::set<std::string> defined;  ///< functions and data that it offers
  std::set<std::string> wanted;   ///< those that others must have
};

/// ELF, 64 bits, little-endian. Hostile input is an error, never a crash.
Result<SharedLibrary> parse_shared_library(std::string_view bytes);

bool is_elf(std::string_view bytes);
std::string machine_name(uint16_t machine);  ///< "x86_64"; "machine 40" for one without a name

}  // namespace aotifuzz
