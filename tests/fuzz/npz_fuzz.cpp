#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "package/tensor_file.h"

/// Archives of arrays from anyone: values or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = aotifuzz::parse_npz(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read && (read.error().what.empty() || read.error().where.empty())) std::abort();
  return 0;
}
