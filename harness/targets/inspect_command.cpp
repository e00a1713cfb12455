#include "targets/inspect_command.h"

#include <iostream>

#include "core/error.h"
#include "package/contract_bounds.h"
#include "package/inspect_report.h"

namespace aotifuzz {

void InspectCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 to look at")->required();
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_flag("--json", json_, "As one JSON document");
}

int InspectCommand::run() {
  constexpr int64_t kElementsMax = 1 << 20;  // as `fuzz` has it, so that both name the same values
  const PackageInfo info = read_package({package_, model_, reference_});
  const ContractBounds bounds = compute_bounds(info.contract, kElementsMax);
  if (json_)
    std::cout << inspect_json(info, bounds) << '\n';
  else
    print_inspect_text(info, bounds, std::cout);
  std::cout.flush();
  return kExitNoFaults;
}

}  // namespace aotifuzz
