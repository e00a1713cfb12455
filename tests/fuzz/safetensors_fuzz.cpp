#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "package/tensor_file.h"

/// Tensors from anyone: as many bytes as each shape needs, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = aotifuzz::parse_safetensors(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read && (read.error().what.empty() || read.error().where.empty())) std::abort();
  if (read)
    for (const aotifuzz::SavedValue& value : *read)
      if (value.bytes.size() != static_cast<size_t>(value.input.numel() * value.width)) std::abort();
  return 0;
}
