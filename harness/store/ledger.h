#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace aotifuzz {

/// What a campaign remembers from run to run: OUT/state.json. One section for each package, by content, so that one
/// folder may serve several builds without mixing them up.
struct Ledger {
  struct Known {
    std::string slug;  ///< folder under OUT/findings
    bool fault = false;
    uint64_t duplicates = 0;
    std::string culprit = {};  ///< kernel and the value that it leaves wrong; "" = not known
    bool hidden = false;       ///< no output of the package shows it
    friend bool operator==(const Known&, const Known&) = default;
  };
  struct Section {
    std::string package;                        ///< path, for readers
    std::map<std::string, uint64_t> next_case;  ///< by seed ("1"): where the next run goes on
    uint64_t cases = 0;
    std::map<std::string, Known> known;  ///< by finding key
    /// Texts of cases that failed and were not looked into yet: the next run begins with them.
    std::vector<std::string> pending;
    friend bool operator==(const Section&, const Section&) = default;
  };
  std::map<std::string, Section> packages;  ///< by content hash
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

std::string print_ledger(const Ledger& ledger);
Result<Ledger> parse_ledger(std::string_view text);  ///< hostile input is an error, never a crash

/// Reads OUT/state.json; an absent file is an empty ledger. Throws HarnessError for one that cannot be read.
Ledger load_ledger(const std::string& path);

/// 16 hex digits that depend on every byte of the file and its length. Throws HarnessError.
std::string content_hash(const std::string& path);

/// Holds OUT for one campaign as long as it lives; the kernel releases it when the process ends in whatever way.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);  ///< throws HarnessError when another process holds it
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace aotifuzz
