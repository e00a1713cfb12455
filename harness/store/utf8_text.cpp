#include "store/utf8_text.h"

#include <cstdint>

namespace aotifuzz {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the character that starts at `at`, 0 when there is none; its code point in `*code`.
size_t character_at(std::string_view text, size_t at, uint32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() - at < length) return 0;
  *code = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    *code = *code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && *code < 0x800) || (length == 4 && *code < 0x10000);
  return overlong || *code > 0x10FFFF ? 0 : length;
}

bool is_xml_character(uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0x7F && !(code >= 0xD800 && code < 0xE000) && code != 0xFFFE && code != 0xFFFF;
}

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    uint32_t code = 0;
    const size_t length = character_at(text, at, &code);
    if (length > 0 && is_xml_character(code))
      out += text.substr(at, length);
    else
      out += kReplacement;
    at += length > 0 ? length : 1;
  }
  return out;
}

std::string cut_utf8(std::string text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  const size_t more = text.size() - end;
  text.resize(end);
  return text + " [" + std::to_string(more) + " more bytes]";
}

}  // namespace aotifuzz
