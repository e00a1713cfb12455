#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// Flags of the commands that run cases from disk: which package, and how to load it.
class PackageOptions {
 public:
  void declare(CLI::App& app);
  /// What the flags say of `entry`, else what its finding was made with. Limits are the command's to add. Throws
  /// HarnessError when nothing says which package the case is for.
  SessionRequest request_for(const CorpusEntry& entry) const;
  /// The same, but of this package, with this version of torch.
  SessionRequest request_for(const CorpusEntry& entry, const std::string& package, const std::string& torch) const;

  /// Of --torch, which a command may read as a list.
  const std::string& torch() const { return torch_; }
  /// Of --package: VERSION=FILE, or FILE alone, as given.
  const std::vector<std::string>& packages() const { return packages_; }

 private:
  std::string model_, reference_, device_, models_, torch_;
  std::vector<std::string> packages_, ops_;
};

/// `--torch VERSION`.
void declare_torch(CLI::App& app, std::string* torch);

/// The one case that `path` means. Throws UsageError when there are more.
CorpusEntry read_one_case(const std::string& path);

}  // namespace aotifuzz
