#include <cstddef>
#include <cstdint>
#include <string_view>

#include "package/archive.h"

// Any bytes as a zip archive: opened, every member read, within limits that keep a run fast.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  aotifuzz::ArchiveLimits limits;
  limits.members_max = 64;
  limits.total_bytes_max = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const aotifuzz::Result<aotifuzz::Archive> archive = aotifuzz::Archive::from_bytes(bytes, limits);
  if (!archive) return 0;
  for (const aotifuzz::Archive::Member& member : archive->members()) {
    const aotifuzz::Result<std::string> read = archive->read(member.name.substr(archive->root().size()), 1 << 20);
    if (read && read->size() != member.bytes) __builtin_trap();
  }
  return 0;
}
