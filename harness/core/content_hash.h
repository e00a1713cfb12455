#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace aotifuzz {

/// FNV-1a over words: tells builds and values apart, on any machine of our byte order; not meant against forgery. Every
/// block but the last two must be whole words, or the same content in other blocks hashes otherwise.
class ContentHash {
 public:
  void add(const void* data, size_t bytes);
  uint64_t value() const;
  std::string text() const { return hash_text(value()); }
  /// Sixteen hexadecimal digits.
  static std::string hash_text(uint64_t value);

 private:
  uint64_t hash_ = 0xcbf29ce484222325u, length_ = 0;
};

}  // namespace aotifuzz
