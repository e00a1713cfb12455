#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/corpus_folder.h"

namespace aotifuzz {

/// What a folder of cases holds. Packages and recipes are told apart: one's cells say nothing of another's.
struct CorpusStats {
  uint64_t cases = 0;
  std::map<std::string, uint64_t> by_owner;     ///< package or model recipe; "not said"
  std::map<std::string, uint64_t> by_expected;  ///< "fault wrong-result", "nothing expected"
  uint64_t cells = 0;                           ///< campaign/coverage.h, broken conditions apart
};
CorpusStats corpus_stats(const std::vector<CorpusEntry>& entries);
std::string print_corpus_stats(const CorpusStats& stats);

/// What makes a case worth keeping: its cells and what is expected of it, each with its owner in front.
std::set<std::string> corpus_marks(const CorpusEntry& entry);

/// The fewest entries, greedily, that together have every mark of all: indices, in the order of `entries`. Of two that
/// add as much the shorter text is taken.
std::vector<size_t> distilled(const std::vector<CorpusEntry>& entries);

/// The entries from index `first` on that have a mark which none before them has.
std::vector<size_t> adding(const std::vector<CorpusEntry>& entries, size_t first);

/// Copies an entry to `into` as a folder of its own: case.txt and what stands beside it, whole or not at all. Returns
/// false when a folder of that name is there already with the same case, and gives it another name when with another.
/// Throws HarnessError.
bool copy_entry(const CorpusEntry& entry, const std::string& into);

}  // namespace aotifuzz
