// The pipe between parent and worker, and the JSON files of a campaign: whatever the bytes are, a value or an error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/finding_file.h"
#include "store/ledger.h"
#include "store/worker_protocol.h"

using namespace aotifuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      if (const auto message = parse_message(text)) {
        // What was understood once must be understood again, and mean the same.
        const std::string printed = print_message(*message);
        const auto again = parse_message(printed);
        if (!again || print_message(*again) != printed) std::abort();
        if (message->kind == WorkerMessage::Kind::kReady && message->pid <= 1) std::abort();
      }
      break;
    case 1:
      (void)parse_request_line(text);
      break;
    case 2:
      if (const auto ledger = parse_ledger(text)) {
        const auto again = parse_ledger(print_ledger(*ledger));
        if (!again || !(*again == *ledger)) std::abort();
      }
      break;
    default:
      (void)parse_expectation(text);
      break;
  }
  return 0;
}
