#pragma once

#include <string>
#include <vector>

#include "core/torch_version.h"

namespace aotifuzz {

/// The programs that were built against one version of torch. This program needs none: it works with any of them.
struct TorchBuild {
  TorchVersion version;
  std::string full_version;  ///< with how it was built: "2.15.0+cu132"
  std::string folder;        ///< where its aotifuzz-worker lies
  std::string python;        ///< the interpreter whose torch it is; "" = none, as in a bundle
  std::string libraries;     ///< folder of that torch's libraries, where the worker finds them; "" = in a bundle
  std::string pack;          ///< what PYTHONPATH needs for aotifuzz_pack; "" = not known
};

/// Builds that can be used from `folder`, the newest first but for the folder's own, which comes first: itself, its
/// `torch-*` folders, and those beside it when it is one of them. A build is a folder with kTorchBuildFile and a
/// worker; what cannot be read is left out and said in `problems`.
std::vector<TorchBuild> torch_builds(const std::string& folder, std::vector<std::string>* problems = nullptr);
/// Those of the folder that this program lies in.
std::vector<TorchBuild> installed_torch_builds(std::vector<std::string>* problems = nullptr);

/// Written beside the worker by the build: {"torch": "2.15.0+cu132", "python": PATH, "libraries": PATH, "pack": PATH}.
inline constexpr const char* kTorchBuildFile = "aotifuzz-torch.json";

/// Does `requested` name the version? "2.14" stands for any 2.14.x.
bool is_version(const TorchVersion& version, const std::string& requested);

struct TorchChoice {
  TorchBuild build;
  std::string note;  ///< one line for the user when the package's torch is another; "" = as it should be
};

/// The build for a package that `package_torch` ("" = not known) compiled. `requested` (--torch): that version and no
/// other, "2.14" stands for any 2.14.x. Else the package's own, else the nearest newer one (packages call libtorch
/// through an interface that grows but does not shrink), else the newest of the older ones, else the first of `builds`.
/// Throws HarnessError when there is none, UsageError when `requested` is no version. `known_as` begins the note: what
/// is known of `package_torch`.
TorchChoice choose_torch(const std::vector<TorchBuild>& builds, const std::string& package_torch,
                         const std::string& requested, const std::string& known_as = "the package was compiled by");

/// Throws HarnessError when AOTIFUZZ_TORCH_LIB names libraries of another torch than the build's: such a worker would
/// end with "undefined symbol".
void require_matching_libraries(const TorchBuild& build);

}  // namespace aotifuzz
