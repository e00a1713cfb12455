#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "package/contract_builder.h"
#include "package/program_reader.h"

// Any bytes as the JSON of an ExportedProgram; what reads must give a contract.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const aotifuzz::Result<aotifuzz::Program> program = aotifuzz::parse_program(text, "model");
  if (program) {
    std::vector<std::string> notes;
    const aotifuzz::Contract contract = aotifuzz::build_contract(*program, notes);
    aotifuzz::Case empty;
    aotifuzz::violations(contract, empty);
  }
  aotifuzz::parse_weights_config(text, "data/weights/");
  return 0;
}
