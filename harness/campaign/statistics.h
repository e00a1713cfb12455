#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "core/verdict.h"

namespace aotifuzz {

/// Counts of one campaign. Every skip and every case that gave nothing is counted with its reason.
class Statistics {
 public:
  void add(const CaseResult& result, const std::vector<Verdict>& verdicts);

  uint64_t cases = 0;
  uint64_t judged = 0;  ///< cases with at least one pass, fail or mistrusted verdict
  uint64_t deaths = 0;
  uint64_t passed_over = 0;               ///< drawn but not run: outside the contract in ways that bring nothing new
  uint64_t steered_away = 0;              ///< within the contract, where a known fault always shows: drawn but not run
  std::vector<std::string> steered_from;  ///< where that is: "x.size(0) of class 2^4..2^5"
  uint64_t refused_units = 0;             ///< of a guided campaign's corpus: no case of this program
  uint64_t reduction_runs = 0;
  double reduction_us = 0;  ///< confirming and reducing, of all jobs together
  double elapsed_us = 0;    ///< whole campaign
  int jobs = 1;
  std::map<std::string, uint64_t> outcomes;  ///< of the package's first run: "finished", "rejected", "SIGSEGV", "hang"
  std::map<std::string, uint64_t> verdicts;  ///< "close: pass"
  std::map<std::string, uint64_t> skips;     ///< "close: random op: aten.rand.default"
  std::map<std::string, uint64_t> mistrusted;
  std::map<std::string, uint64_t> sanitizer;  ///< memory faults of a device: "named the buffer", "not run: ..."

  /// Of all jobs together, as long as they look for findings.
  double cases_per_second() const;
  std::vector<std::string> notes;  ///< what did not go as asked for, one sentence each

  /// Judging hardly anything, or nothing at all, must not look like finding nothing.
  bool mostly_unjudged() const { return cases == 0 || judged * 2 < cases; }
};

}  // namespace aotifuzz
