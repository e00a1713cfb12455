#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
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
  /// True when `c` reached a new cell.
  bool add(const Case& c, const std::vector<Violation>& broken);

  /// Cells that earlier runs reached: they are new no more.
  void start_from(std::set<std::string> cells) { cells_ = std::move(cells); }

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
  /// What can be reached once: a size class of a dimension, a layout or kind of values of an input, a broken condition.
  const std::set<std::string>& cells() const { return cells_; }
  uint64_t legal_shaped() const { return allowed_; }  ///< cases that the contract allows

 private:
  std::map<std::string, Dimension> dimensions_;
  std::map<std::string, uint64_t> layouts_, values_, dtypes_, broken_;
  std::set<std::string> cells_;
  uint64_t allowed_ = 0;
};

/// "dense", "permuted", "row gap", "expanded", "strided", and any of "offset", "misaligned", "shared storage" joined by
/// +.
std::string layout_name(const CaseInput& input);

/// Sizes that kernels treat alike: 0, 1 and 2 each; a power of two, its neighbours, other multiples of 16, and the rest
/// between two powers: "2^5", "2^5-1", "2^5+1", "2^5..2^6, of 16", "2^5..2^6".
std::string size_class(int64_t size);

}  // namespace aotifuzz
