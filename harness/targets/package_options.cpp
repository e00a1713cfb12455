#include "targets/package_options.h"

#include <cstdlib>

namespace aotifuzz {

void PackageOptions::declare(CLI::App& app) {
  app.add_option("--package", packages_,
                 "Package to run on; default: the one that the finding or its model recipe names")
      ->allow_extra_args(false);
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--models", models_,
                 "Folder of packed models, RECIPE.pt2 each, for cases that name a recipe (default: AOTIFUZZ_MODELS)");
  app.add_option("--device", device_, "Where to run: cuda:N (default: the package's device, its first GPU)");
  declare_torch(app, &torch_);
}

SessionRequest PackageOptions::request_for(const CorpusEntry& entry) const {
  const char* variable = std::getenv("AOTIFUZZ_MODELS");
  const std::string models = !models_.empty() ? models_ : variable ? variable : "";
  if (packages_.size() > 1)
    throw UsageError("more than one package", "--package " + packages_[1], "give one, or several versions to --torch");
  const std::string package = packages_.empty() ? "" : packages_.front();
  return request_for(entry, package_of(entry, package, models), torch_);
}

SessionRequest PackageOptions::request_for(const CorpusEntry& entry, const std::string& package,
                                           const std::string& torch) const {
  SessionRequest request;
  request.package = {package, model_, reference_};
  request.ops = ops_;
  request.device = device_;
  request.torch = torch;
  if (entry.expectation) {
    // What the finding was made with, unless another package or flag says otherwise.
    if (model_.empty() && packages_.empty()) request.package.model = entry.expectation->model;
    if (reference_.empty() && packages_.empty()) request.package.reference = entry.expectation->reference;
    if (ops_.empty()) request.ops = entry.expectation->ops;
  }
  return request;
}

void declare_torch(CLI::App& app, std::string* torch) {
  app.add_option("--torch", *torch,
                 "Version of torch to run with, of those that a worker was built for; doctor lists them (default: the "
                 "one that compiled the package, else the nearest)");
}

CorpusEntry read_one_case(const std::string& path) {
  const std::vector<std::string> cases = find_cases(path);
  if (cases.size() != 1) throw UsageError("more than one case", path, "give one case text or one finding folder");
  return read_entry(cases.front());
}

}  // namespace aotifuzz
