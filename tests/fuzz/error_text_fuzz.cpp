#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "package/error_recogniser.h"
#include "package/index_checks.h"

// Any text as a log, and as a generated file with index checks.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  aotifuzz::recognise_errors(text);
  const std::string_view pattern = text.substr(0, text.find('\n'));
  aotifuzz::match_text(pattern, text);
  const aotifuzz::GeneratedFile file{"a.kernel.cpp", std::string(text)};
  aotifuzz::find_index_checks(aotifuzz::kernel_texts(file), "tmp2", "5L");
  return 0;
}
