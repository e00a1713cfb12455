#pragma once

#include <string>
#include <vector>

#include "package/package_info.h"

namespace aotifuzz {

/// Is that file an ELF file? A package is then the bare .so of the deprecated aot_compile.
bool is_library_file(const std::string& path);

/// What is known of such a library without loading it: its device by the functions that it calls, its inputs, checks
/// and kernels by the wrapper.cpp that torch wrote beside it, where that is still there ("x.wrapper.so":
/// "x.wrapper.cpp"; "x.so": "x.wrapper.cpp" or "x.cpp"). Throws HarnessError for what is damaged, for another machine,
/// or no model. Adds to `missing` what cannot be judged.
CompiledModel read_library(const std::string& path, std::vector<std::string>& missing);

}  // namespace aotifuzz
