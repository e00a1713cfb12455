#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/case.h"

namespace aotifuzz {

/// Keeps a campaign from finding what it knows a million times, within the contract: which sizes and kinds of values
/// always show a known fault is learned from the cases that ran ("x.size(0) of class 2^5+1", "x filled by steps"). Of
/// the cases with such a property one in kOneIn still runs: another fault may lie behind the known one, and a known
/// one may go away. Where most of the contract fails there is nowhere to steer to, and everything runs.
///
/// Cases outside the contract are Novelty's business (campaign/novelty.h).
class Steering {
 public:
  static constexpr int kOneIn = 8;
  static constexpr uint64_t kWitnesses = 32;     ///< cases with the property, each of which failed
  static constexpr double kMostlyFailing = 0.5;  ///< share of all cases from which on nothing is passed over

  /// Whether `c` should run. Counts those that should not.
  bool is_worth_running(const Case& c);
  /// To be told of each case within the contract that ran. `known`: it failed, and only in ways that are known.
  void ran(const Case& c, bool known);

  uint64_t passed_over() const { return passed_over_; }
  /// Properties that always show a known fault, as text, in order.
  std::vector<std::string> learned() const;

 private:
  struct Property {
    uint64_t cases = 0, failed = 0;
    int skipped = 0;  ///< draws since the last one that ran
    bool always_fails() const { return cases >= kWitnesses && failed == cases; }
  };
  std::map<std::string, Property> properties_;
  uint64_t cases_ = 0, failed_ = 0, passed_over_ = 0;
};

}  // namespace aotifuzz
