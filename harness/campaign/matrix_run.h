#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "campaign/torch_builds.h"
#include "campaign/version_matrix.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

struct MatrixRequest {
  std::vector<std::string> cases;     ///< paths of case texts
  std::vector<TorchBuild> builds;     ///< one for each version, any order
  std::vector<std::string> packages;  ///< "2.11.0=old.pt2", or "any.pt2" for all versions; empty: pack the recipes
  std::function<SessionRequest(const CorpusEntry&, const std::string& package, const std::string& torch)> session;
  int times = 5;
  std::chrono::seconds pack_limit{0};  ///< of one recipe; 0 = none
};

/// Replays every case with every version: on the package given for it, else on one that is packed from the case's model
/// recipe with that version's torch. What one case lacks is its row's business; throws HarnessError for what concerns
/// all (a version without a package where packages are given, a Python that does not start), UsageError for a package
/// of a version that is not asked for.
VersionMatrix run_matrix(MatrixRequest request);

/// "2.11.0,2.13,2.15.0" as builds. Throws as choose_torch() does, UsageError for an empty list or a version twice.
std::vector<TorchBuild> matrix_builds(const std::string& list, const std::vector<TorchBuild>& installed);

}  // namespace aotifuzz
