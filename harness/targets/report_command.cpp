#include "targets/report_command.h"

#include <fmt/format.h>

#include "campaign/report_file.h"
#include "core/error.h"

namespace aotifuzz {

int ReportCommand::run() {
  fmt::print("{}\n", write_report_file(folder_));
  return kExitNoFaults;
}

}  // namespace aotifuzz
