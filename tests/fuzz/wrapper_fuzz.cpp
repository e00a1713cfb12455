#include <cstddef>
#include <cstdint>
#include <string_view>

#include "package/contract_builder.h"
#include "package/wrapper_reader.h"

// Any text as a generated wrapper.cpp.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  aotifuzz::CompiledModel model;
  aotifuzz::read_wrapper(std::string_view(reinterpret_cast<const char*>(data), size), model);
  aotifuzz::build_contract(model);
  return 0;
}
