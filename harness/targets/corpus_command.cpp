#include "targets/corpus_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "campaign/corpus_tools.h"
#include "core/error.h"
#include "store/atomic_file.h"
#include "store/ledger.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

/// What can be read of a folder; the rest is named, and counted in `bad`.
std::vector<CorpusEntry> read_entries(const std::string& folder, size_t* bad) {
  std::vector<CorpusEntry> entries;
  for (const std::string& path : find_cases(folder)) {
    try {
      entries.push_back(read_entry(path));
    } catch (const HarnessError& error) {
      ++*bad;
      say("left out: {}\n", error.what());
    }
  }
  return entries;
}

std::string left_out(size_t bad) {
  return bad == 0 ? "" : fmt::format("{} case{} left out, named above\n", bad, bad == 1 ? "" : "s");
}

void require_some(const std::vector<CorpusEntry>& entries, const std::string& folder) {
  if (entries.empty())
    throw HarnessError("none of the cases can be read", folder, "correct or remove those that are named above");
}

/// Copies entries into a folder that nobody else writes to meanwhile; how many were new.
size_t copy_all(const std::vector<CorpusEntry>& entries, const std::string& into) {
  make_folder(into);
  const FolderLock lock(into);
  remove_leftovers(into);
  size_t copied = 0;
  for (const CorpusEntry& entry : entries) copied += copy_entry(entry, into);
  // A corpus goes into a repository: nothing but cases stays.
  std::filesystem::remove(into + "/lock");
  return copied;
}

}  // namespace

void CorpusCommand::declare(CLI::App& app) {
  app.require_subcommand(1);
  merge_ = app.add_subcommand("merge", "Copy into a folder the cases that add to what it covers or expects");
  merge_->add_option("INTO", into_, "Folder that grows; made when it is not there")->required();
  merge_->add_option("FROM", from_, "Folders of cases")->required();
  distil_ = app.add_subcommand("distil", "Copy into another folder the fewest cases that cover and expect the same");
  distil_->add_option("DIR", folder_, "Folder of cases")->required();
  distil_->add_option("--to", into_, "Folder for them; must be empty or not there")->required();
  stats_ = app.add_subcommand("stats", "Print what a folder of cases holds");
  stats_->add_option("DIR", folder_, "Folder of cases")->required();
}

namespace {

/// Is one of the folders the other, or within it?
bool overlap(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& folder) {
    return (std::filesystem::weakly_canonical(std::filesystem::absolute(folder)) / "").lexically_normal().string();
  };
  const std::string x = place(a), y = place(b);
  return x.starts_with(y) || y.starts_with(x);
}

}  // namespace

int CorpusCommand::run() {
  size_t bad = 0;
  if (stats_->parsed()) {
    const std::vector<CorpusEntry> entries = read_entries(folder_, &bad);
    require_some(entries, folder_);
    fmt::print("{}{}", print_corpus_stats(corpus_stats(entries)), left_out(bad));
    return kExitNoFaults;
  }
  for (const std::string& from : distil_->parsed() ? std::vector<std::string>{folder_} : from_)
    if (overlap(from, into_))
      throw UsageError("cases would be copied into the folder that they come from", from + " and " + into_,
                       "give two folders of which neither lies within the other");
  std::vector<CorpusEntry> have;
  if (distil_->parsed()) {
    from_ = {folder_};
    if (std::filesystem::exists(into_) && !std::filesystem::is_empty(into_))
      throw UsageError("the folder for the distilled cases is not empty", "--to " + into_, "give another one");
  } else if (std::filesystem::exists(into_) && !std::filesystem::is_empty(into_)) {
    have = read_entries(into_, &bad);
  }
  std::vector<CorpusEntry> entries = have;
  for (const std::string& folder : from_)
    for (CorpusEntry& entry : read_entries(folder, &bad)) entries.push_back(std::move(entry));
  require_some(entries, from_.front());
  std::vector<CorpusEntry> wanted;
  for (const size_t index : merge_->parsed() ? adding(entries, have.size()) : distilled(entries))
    wanted.push_back(entries[index]);
  const size_t copied = copy_all(wanted, into_);
  fmt::print("{} of {} cases copied to {}\n{}", copied, entries.size() - have.size(), into_, left_out(bad));
  return kExitNoFaults;
}

}  // namespace aotifuzz
