#include "campaign/matrix_run.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "campaign/recipe_packer.h"
#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using Status = MatrixCell::Status;

/// A folder that goes with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "aotifuzz-matrix-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw HarnessError("no folder for packages", name, "free disk space, or set TMPDIR");
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A case, and what its package is made from.
struct Subject {
  std::string path;
  std::optional<CorpusEntry> entry;
  std::string recipe;
  std::string why_not;  ///< it cannot run with any version
};

class Run {
 public:
  explicit Run(MatrixRequest request) : request_(std::move(request)), sessions_(request_.builds.size()) {
    std::sort(request_.builds.begin(), request_.builds.end(),
              [](const TorchBuild& a, const TorchBuild& b) { return a.version < b.version; });
  }

  VersionMatrix matrix() {
    read_packages();
    for (const std::string& path : request_.cases) subjects_.push_back(read_subject(path));
    for (const TorchBuild& build : request_.builds) packed_.push_back(pack_recipes(build, recipes_, folder_of(build)));
    VersionMatrix out;
    for (const TorchBuild& build : request_.builds) out.versions.push_back(build.version);
    for (const Subject& subject : subjects_) out.rows.push_back(row_of(subject));
    return out;
  }

 private:
  std::string folder_of(const TorchBuild& build) const { return scratch_.path() + "/" + build.version.text(); }

  void read_packages() {
    given_.resize(request_.builds.size());
    for (const std::string& text : request_.packages) {
      const size_t equals = text.find('=');
      const auto version = parse_torch_version(text.substr(0, equals == text.npos ? 0 : equals));
      bool used = false;
      for (size_t i = 0; i < given_.size(); ++i) {
        if (version && request_.builds[i].version != *version) continue;
        given_[i] = version ? text.substr(equals + 1) : text;
        used = true;
      }
      if (!used)
        throw UsageError("a package of a version that is not asked for", "--package " + text, "add it to --torch");
    }
    if (request_.packages.empty()) return;
    for (size_t i = 0; i < given_.size(); ++i)
      if (given_[i].empty())
        throw UsageError("no package for torch " + request_.builds[i].version.text(), "--package",
                         "give --package " + request_.builds[i].version.text() + "=FILE as well");
  }

  Subject read_subject(const std::string& path) {
    Subject subject;
    subject.path = path;
    try {
      subject.entry = read_entry(path);
      if (request_.packages.empty()) {
        const RecipeSource source = recipe_of(*subject.entry, scratch_.path(), &subject.recipe);
        recipes_[subject.recipe] = source;
      }
    } catch (const HarnessError& error) {
      subject.why_not = error.what();
    }
    return subject;
  }

  MatrixRow row_of(const Subject& subject) {
    MatrixRow row;
    row.path = subject.path;
    row.name = subject.entry ? subject.entry->name : subject.path;
    if (subject.entry && subject.entry->expectation) {
      const Expectation& expected = *subject.entry->expectation;
      row.expected = expected.signature;
      if (!expected.torch.text().empty()) row.expected += " (torch " + expected.torch.text() + ")";
    }
    for (size_t i = 0; i < request_.builds.size(); ++i) row.cells.push_back(cell_of(subject, i));
    return row;
  }

  MatrixCell cell_of(const Subject& subject, size_t column) {
    if (!subject.why_not.empty()) return unanswered_cell(Status::kNotRun, subject.why_not);
    std::string package = given_[column];
    if (package.empty()) {
      const PackedRecipe& packed = packed_[column].at(subject.recipe);
      if (packed.path.empty()) return unanswered_cell(Status::kCannotCompile, packed.why_not);
      package = packed.path;
    }
    try {
      PackageSession& session = open(*subject.entry, package, column);
      session.require_fitting(subject.entry->input, subject.path);
      return replayed_cell(
          replay(session.triage(), session.worker(), *subject.entry, request_.times, session.hello().torch_version));
    } catch (const HarnessError& error) {
      return unanswered_cell(Status::kNotRun, error.what());
    }
  }

  /// Keeps the last package of each version loaded: entries of one corpus come grouped.
  PackageSession& open(const CorpusEntry& entry, const std::string& package, size_t column) {
    Session& kept = sessions_[column];
    SessionRequest wanted = request_.session(entry, package, request_.builds[column].version.text());
    if (request_.packages.empty()) wanted.package.model = wanted.package.reference = "";  // packed here, with both
    if (!kept.session || kept.package != package || kept.ops != wanted.ops) {
      kept.session.reset();
      kept.package = package;
      kept.ops = wanted.ops;
      kept.session = std::make_unique<PackageSession>(std::move(wanted));
    }
    return *kept.session;
  }

  struct Session {
    std::string package;
    std::vector<std::string> ops;
    std::unique_ptr<PackageSession> session;
  };
  MatrixRequest request_;
  Scratch scratch_;
  std::vector<std::string> given_;  ///< packages, by column
  std::vector<Subject> subjects_;
  std::map<std::string, RecipeSource> recipes_;
  std::vector<std::map<std::string, PackedRecipe>> packed_;  ///< by column
  std::vector<Session> sessions_;
};

}  // namespace

VersionMatrix run_matrix(MatrixRequest request) { return Run(std::move(request)).matrix(); }

std::vector<TorchBuild> matrix_builds(const std::string& list, const std::vector<TorchBuild>& installed) {
  std::vector<TorchBuild> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string text = list.substr(at, end - at);
    at = end + 1;
    if (text.empty()) throw UsageError("a version is missing", "--torch " + list, "give versions between commas");
    TorchBuild build = choose_torch(installed, "", text).build;
    for (const TorchBuild& other : out)
      if (other.version == build.version)
        throw UsageError("the same version twice", "--torch " + list, "name each version once");
    out.push_back(std::move(build));
  }
  return out;
}

}  // namespace aotifuzz
