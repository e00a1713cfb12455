#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aotifuzz {

/// A release of torch: 2.15.0. What stands behind the numbers ("+cu132", "a0+git1234", ".dev20261130") is left out: a
/// pre-release counts as the release that it leads to.
struct TorchVersion {
  int major = 0, minor = 0, patch = 0;

  auto operator<=>(const TorchVersion&) const = default;
  std::string text() const;  ///< "2.15.0"
};

/// "2.15.0", "2.15.0+cu132", "2.15" (patch 0), "2.16.0a0+git12ab". None for anything else.
std::optional<TorchVersion> parse_torch_version(std::string_view text);

/// A set of versions, as Python packages state them: ">=2.11,<2.13", "==2.11.0". All conditions hold at once; "" holds
/// for every version.
class TorchRange {
 public:
  static std::optional<TorchRange> parse(std::string_view text);

  bool holds(const TorchVersion& version) const;
  const std::string& text() const { return text_; }

 private:
  enum class Relation { kLess, kAtMost, kEqual, kNot, kAtLeast, kMore };
  struct Condition {
    Relation relation = Relation::kEqual;
    TorchVersion version;
  };
  std::vector<Condition> conditions_;
  std::string text_;
};

}  // namespace aotifuzz
