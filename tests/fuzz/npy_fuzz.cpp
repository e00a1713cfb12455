#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/npy.h"

/// Arrays from anyone: as many bytes as the shape needs, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = aotifuzz::parse_npy(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read && (read.error().what.empty() || read.error().where.empty())) std::abort();
  if (read) {
    size_t bytes = static_cast<size_t>(read->width);
    for (const int64_t size : read->sizes) bytes *= static_cast<size_t>(size);
    if (read->bytes.size() != bytes) std::abort();
  }
  return 0;
}
