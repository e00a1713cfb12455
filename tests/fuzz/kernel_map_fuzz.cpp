#include <cstddef>
#include <cstdint>
#include <string_view>

#include "package/kernel_map.h"
#include "package/kernel_slice.h"

// Any text as a kernel map; of what parses every call is sliced.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const aotifuzz::Result<aotifuzz::KernelMap> map =
      aotifuzz::parse_kernel_map(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!map) return 0;
  for (const aotifuzz::MappedCall& call : map->calls) (void)aotifuzz::slice_of_call(*map, call);
  return 0;
}
