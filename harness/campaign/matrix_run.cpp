#include "campaign/matrix_run.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "campaign/recipe_packer.h"
#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using Status = MatrixCell::Status;

constexpr std::string_view kScratch = "aotifuzz-matrix-";

/// Removes what runs left that were killed: the number after the name is the process.
void sweep(const fs::path& folder) {
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    const pid_t owner = name.starts_with(kScratch) ? std::atoi(name.c_str() + kScratch.size()) : 0;
    std::error_code failed;
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(it->path(), failed);
  }
}

/// A folder that goes with it.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (error)
      throw HarnessError("no folder for packages: " + error.message(), "TMPDIR", "set it to a folder that is there");
    sweep(folder);
    std::string name = (folder / (std::string(kScratch) + std::to_string(::getpid()) + "-XXXXXX")).string();
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
  std::string recipe;   ///< key of the one that it is packed from
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
    for (const TorchBuild& build : request_.builds)
      packed_.push_back(pack_recipes(build, recipes_, folder_of(build), request_.pack_limit));
    VersionMatrix out;
    for (const TorchBuild& build : request_.builds) out.versions.push_back(build.version);
    for (const Subject& subject : subjects_) out.rows.push_back(row_of(subject));
    return out;
  }

 private:
  std::string folder_of(const TorchBuild& build) const { return scratch_.path() + "/" + build.version.text(); }

  void read_packages() {
    std::vector<std::string> any;
    given_.resize(request_.builds.size());
    for (const std::string& text : request_.packages) {
      const size_t equals = text.find('=');
      const std::string version = equals == text.npos ? "" : text.substr(0, equals);
      if (!parse_torch_version(version)) {
        any.push_back(text);
        continue;
      }
      const auto build = std::find_if(request_.builds.begin(), request_.builds.end(),
                                      [&](const TorchBuild& one) { return is_version(one.version, version); });
      if (build == request_.builds.end())
        throw UsageError("a package of a version that is not asked for", "--package " + text, "add it to --torch");
      std::string& package = given_[static_cast<size_t>(build - request_.builds.begin())];
      if (!package.empty()) throw UsageError("two packages for one version", "--package " + text, "give one");
      package = text.substr(equals + 1);
    }
    if (any.size() > 1)
      throw UsageError("two packages for any version", "--package " + any[1],
                       "give one, or say which version each is for: VERSION=FILE");
    for (size_t i = 0; i < given_.size() && !request_.packages.empty(); ++i) {
      if (given_[i].empty() && !any.empty()) given_[i] = any.front();
      if (given_[i].empty())
        throw UsageError("no package for torch " + request_.builds[i].version.text(), "--package",
                         "give --package " + request_.builds[i].version.text() + "=FILE as well");
    }
  }

  Subject read_subject(const std::string& path) {
    Subject subject;
    subject.path = path;
    try {
      subject.entry = read_entry(path);
      if (request_.packages.empty()) {
        const RecipeSource source = recipe_of(*subject.entry, scratch_.path());
        subject.recipe = source.key();
        if (known_.insert(subject.recipe).second) recipes_.push_back(source);
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
    if (subject.entry) row.expectation = subject.entry->expectation;
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
      if (packed.path.empty())
        return unanswered_cell(packed.by_compiler ? Status::kCannotCompile : Status::kNotRun, packed.why_not);
      package = packed.path;
    }
    try {
      PackageSession& session = open(*subject.entry, package, column);
      session.require_fitting(subject.entry->input, subject.path);
      MatrixCell cell = replayed_cell(
          replay(session.triage(), session.worker(), *subject.entry, request_.times, session.compiler_version()));
      cell.note = session.torch_note();
      return cell;
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
  std::vector<RecipeSource> recipes_;
  std::set<std::string> known_;                              ///< their keys
  std::vector<std::map<std::string, PackedRecipe>> packed_;  ///< by column
  std::vector<Session> sessions_;
};

}  // namespace

VersionMatrix run_matrix(MatrixRequest request) { return Run(std::move(request)).matrix(); }

std::vector<TorchBuild> matrix_builds(const std::string& list, const std::vector<TorchBuild>& installed) {
  std::vector<TorchBuild> out;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string text = list.substr(at, end - at);
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
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
