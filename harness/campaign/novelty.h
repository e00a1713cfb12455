#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"

namespace aotifuzz {

/// Keeps a campaign from spending itself on what it knows: a package accepts and dies of the same broken conditions a
/// thousand times. A condition is quiet once the last kQuiet cases that break it brought no new finding; of the cases
/// that break quiet conditions only, one in kOneIn still runs. Cases within the contract always run.
class Novelty {
 public:
  static constexpr int kQuiet = 16;
  static constexpr int kOneIn = 8;

  /// Whether `c`, which breaks `broken`, should run. Counts those that should not.
  bool is_worth_running(const Case& c, const std::vector<Violation>& broken);
  /// To be told of each case that ran: whether it failed in a way not seen before.
  void ran(const Case& c, const std::vector<Violation>& broken, bool brought_news);

  uint64_t passed_over() const { return passed_over_; }

 private:
  struct Sort {
    int quiet = 0;    ///< cases since the last news
    int skipped = 0;  ///< draws since the last one that ran
  };
  std::map<std::string, Sort> sorts_;  ///< by condition, with and without input checks
  uint64_t passed_over_ = 0;
};

}  // namespace aotifuzz
