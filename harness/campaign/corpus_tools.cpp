#include "campaign/corpus_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "campaign/coverage.h"
#include "core/error.h"
#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNotSaid = "not said";
// Far more cases of one name than any folder has.
constexpr int kNamesMax = 100'000;

std::string owner_of(const CorpusEntry& entry) {
  if (!entry.expectation) return kNotSaid;
  const Expectation& expectation = *entry.expectation;
  if (!expectation.recipe.empty()) return expectation.recipe;
  return expectation.package.empty() ? kNotSaid : fs::path(expectation.package).stem().string();
}

std::string expected_of(const CorpusEntry& entry) {
  if (!entry.expectation) return "nothing expected";
  const Expectation& expectation = *entry.expectation;
  std::string out = expectation.fault ? (*expectation.fault ? "fault " : "gap ") : "";
  return out + std::string(expectation.cls ? verdict_class_name(*expectation.cls) : "of any class");
}

bool same_case(const std::string& folder, const Case& c) {
  if (!fs::exists(folder + "/case.txt")) return false;
  const auto there = parse_case(read_file(folder + "/case.txt"));
  return there && *there == c;
}

}  // namespace

std::set<std::string> corpus_marks(const CorpusEntry& entry) {
  const std::string owner = owner_of(entry);
  std::set<std::string> marks;
  Coverage coverage;
  coverage.add(entry.input, {});
  for (const std::string& cell : coverage.cells()) marks.insert(owner + " | " + cell);
  if (entry.expectation) marks.insert(owner + " | expects " + expected_of(entry) + " " + entry.expectation->signature);
  return marks;
}

CorpusStats corpus_stats(const std::vector<CorpusEntry>& entries) {
  CorpusStats stats;
  std::set<std::string> cells;
  for (const CorpusEntry& entry : entries) {
    ++stats.cases;
    ++stats.by_owner[owner_of(entry)];
    ++stats.by_expected[expected_of(entry)];
    for (const std::string& mark : corpus_marks(entry))
      if (mark.find(" | expects ") == std::string::npos) cells.insert(mark);
  }
  stats.cells = cells.size();
  return stats;
}

std::string print_corpus_stats(const CorpusStats& stats) {
  std::string out = fmt::format("{} cases, {} cells\npackages and recipes\n", stats.cases, stats.cells);
  for (const auto& [owner, count] : stats.by_owner) out += fmt::format("  {:>8}  {}\n", count, owner);
  out += "expected\n";
  for (const auto& [expected, count] : stats.by_expected) out += fmt::format("  {:>8}  {}\n", count, expected);
  return out;
}

std::vector<size_t> distilled(const std::vector<CorpusEntry>& entries) {
  std::vector<std::set<std::string>> marks;
  std::vector<size_t> lengths;
  for (const CorpusEntry& entry : entries) {
    marks.push_back(corpus_marks(entry));
    lengths.push_back(print_case(entry.input).size());
  }
  std::set<std::string> have;
  std::vector<size_t> taken;
  while (true) {
    size_t best = entries.size(), best_adds = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto adds = static_cast<size_t>(std::count_if(
          marks[i].begin(), marks[i].end(), [&](const std::string& mark) { return !have.contains(mark); }));
      if (adds > best_adds || (adds == best_adds && adds > 0 && lengths[i] < lengths[best])) {
        best = i;
        best_adds = adds;
      }
    }
    if (best_adds == 0) break;
    have.insert(marks[best].begin(), marks[best].end());
    taken.push_back(best);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

std::vector<size_t> adding(const std::vector<CorpusEntry>& entries, size_t first) {
  std::set<std::string> have;
  std::vector<size_t> out;
  for (size_t i = 0; i < entries.size(); ++i) {
    const size_t before = have.size();
    have.merge(corpus_marks(entries[i]));
    if (i >= first && have.size() > before) out.push_back(i);
  }
  return out;
}

bool copy_entry(const CorpusEntry& entry, const std::string& into) {
  const fs::path from = entry.path;
  const std::string stem = from.filename() == "case.txt" ? entry.name : from.stem().string();
  std::string folder = into + "/" + stem;
  for (int number = 2; fs::exists(folder); ++number) {
    if (same_case(folder, entry.input)) return false;
    if (number > kNamesMax) throw HarnessError("too many cases of one name", folder, "give another folder");
    folder = into + "/" + stem + "-" + std::to_string(number);
  }
  const std::string staging = into + "/" + std::string(kUnfinished) + fs::path(folder).filename().string();
  make_folder(staging);
  // Their name tells a case from its original, so a case text of another name becomes a case.txt.
  write_file_whole(staging + "/case.txt", read_file(entry.path));
  if (from.filename() == "case.txt")
    for (const char* name : {"original.txt", "finding.json", "expect.json", "report.md", "repro.py", "sanitizer.log"})
      if (const fs::path beside = from.parent_path() / name; fs::exists(beside))
        write_file_whole(staging + "/" + name, read_file(beside.string()));
  keep_case_files(entry.input, staging);
  if (fs::exists(staging + "/original.txt"))
    keep_case_files(read_entry((from.parent_path() / "original.txt").string()).input, staging);
  rename_folder(staging, folder);
  return true;
}

}  // namespace aotifuzz
