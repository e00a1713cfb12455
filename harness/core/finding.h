#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/verdict.h"

namespace aotifuzz {

/// A failed verdict that survived triage, with what is needed to believe and to replay it.
struct Finding {
  Verdict verdict;             ///< of the minimised case
  Case minimal;
  Case original;               ///< as first drawn
  /// Cases that must run before it in the same process, because one of them damages what the last one trips over; usually none.
  std::vector<Case> before;
  int reproduced = 0, tries = 0;  ///< k of n in fresh workers
  bool one_minimal = false;    ///< no single further step of any pass keeps the signature
  int reduction_runs = 0;
  uint64_t after_cases = 0;    ///< cases that the campaign had run when it was first seen, this one included
  int duplicates = 0;          ///< further cases with the same signature
  std::string package;         ///< path as the user gave it
  std::string model;
  std::map<std::string, std::string> environment;  ///< torch, CPU, threads, aotifuzz version...
  /// How one step toward simpler or larger behaves: "x.size(0): 16 fails, 15 passes".
  std::vector<std::string> certificate;
};

}  // namespace aotifuzz
