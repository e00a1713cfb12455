#include "core/content_hash.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace aotifuzz {

void ContentHash::add(const void* data, size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  length_ += bytes;
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, from + i, std::min<size_t>(8, bytes - i));
    hash_ = (hash_ ^ word) * 0x100000001b3u;
    hash_ ^= hash_ >> 29;
  }
}

uint64_t ContentHash::value() const { return (hash_ ^ length_) * 0x100000001b3u; }

std::string ContentHash::hash_text(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace aotifuzz
