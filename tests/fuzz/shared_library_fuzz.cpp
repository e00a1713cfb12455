#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "package/shared_library.h"

/// Libraries from anyone: what they say, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = aotifuzz::parse_shared_library(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read && (read.error().what.empty() || read.error().where.empty())) std::abort();
  return 0;
}
