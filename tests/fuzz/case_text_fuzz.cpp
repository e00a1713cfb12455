#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/case_text.h"

/// Case text from anyone: parse_case answers with a case or an error; what it accepts prints and reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto c = aotifuzz::parse_case(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!c) {
    if (c.error().what.empty() || c.error().where.empty()) std::abort();
    return 0;
  }
  const auto back = aotifuzz::parse_case(aotifuzz::print_case(*c));
  if (!back || !(*back == *c)) std::abort();
  return 0;
}
