#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"

namespace aotifuzz {

/// What the cases of a campaign reached: per dimension the span and which of the values worth trying, layouts, value
/// kinds, dtypes, and the conditions that were broken on purpose.
class Coverage {
 public:
  /// Values worth trying of a dimension ("x.size(0)").
  void expect(const std::string& dimension, const std::vector<int64_t>& landmarks);
  void add(const Case& c, const std::vector<Violation>& broken);

  struct Dimension {
    int64_t least = 0, greatest = 0;
    uint64_t cases = 0;
    std::set<int64_t> landmarks, hit;
  };
  const std::map<std::string, Dimension>& dimensions() const { return dimensions_; }
  const std::map<std::string, uint64_t>& layouts() const { return layouts_; }
  const std::map<std::string, uint64_t>& values() const { return values_; }
  const std::map<std::string, uint64_t>& dtypes() const { return dtypes_; }
  const std::map<std::string, uint64_t>& broken() const { return broken_; }
  uint64_t legal_shaped() const { return allowed_; }  ///< cases that the contract allows

 private:
  std::map<std::string, Dimension> dimensions_;
  std::map<std::string, uint64_t> layouts_, values_, dtypes_, broken_;
  uint64_t allowed_ = 0;
};

/// "dense", "permuted", "row gap", "expanded", "strided", and any of "offset", "misaligned", "shared storage" joined by
/// +.
std::string layout_name(const CaseInput& input);

}  // namespace aotifuzz
