#include "targets/inspect_command.h"

#include <iostream>

#include "core/error.h"
#include "package/assumed_sizes.h"
#include "package/compile_trace_report.h"
#include "package/contract_bounds.h"
#include "package/inspect_report.h"
#include "package/kernel_report.h"
#include "targets/command_options.h"

namespace aotifuzz {
namespace {

/// What the reader said about the map.
std::string kernels_missing(const PackageInfo& info) {
  for (const std::string& line : info.missing)
    if (line.starts_with("kernels: ")) return line.substr(9);
  return "give a package with a compiled model";
}

}  // namespace

void InspectCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 to look at")->required();
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  CLI::Option* json = app.add_flag("--json", json_, "As one JSON document");
  CLI::Option* kernels =
      app.add_flag("--kernels", kernels_, "Every kernel call: what it is given, and whether it is judged");
  app.add_flag("--dot", dot_, "With --kernels: as a graph for Graphviz (dot -Tsvg)")->needs(kernels);
  kernels->excludes(json);
  app.add_option(
         "--trace", trace_,
         "Folder that TORCH_TRACE named when the package was compiled, or that tlparse wrote of it: where symbols, "
         "guards and kernels come from in the model")
      ->check(not_empty())
      ->excludes(kernels);
}

int InspectCommand::run() {
  constexpr int64_t kElementsMax = 1 << 20;  // as `fuzz` has it, so that both name the same values
  const PackageInfo info =
      read_package({.path = package_, .model = model_, .reference = reference_, .kernels = kernels_});
  if (kernels_) {
    if (!info.kernels) throw HarnessError("nothing is known of the kernels", package_, kernels_missing(info));
    dot_ ? print_kernel_graph(info, std::cout) : print_kernel_table(info, std::cout);
    std::cout.flush();
    return kExitNoFaults;
  }
  const ContractBounds bounds = compute_bounds(info.contract, kElementsMax, assumption_targets(info));
  std::optional<CompileTrace> trace;
  if (!trace_.empty()) trace = read_compile_trace(trace_, info);
  if (json_)
    std::cout << inspect_json(info, bounds, trace ? &*trace : nullptr) << '\n';
  else
    print_inspect_text(info, bounds, std::cout);
  if (trace && !json_) print_compile_trace(*trace, std::cout);
  std::cout.flush();
  return kExitNoFaults;
}

}  // namespace aotifuzz
