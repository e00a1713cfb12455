#include "core/torch_version.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace aotifuzz {
namespace {

/// Takes a number of at most four digits off the front; -1 when there is none.
int take_number(std::string_view& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min<size_t>(text.size(), 4), number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(end - text.data());
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string TorchVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::optional<TorchVersion> parse_torch_version(std::string_view text) {
  std::array<int, 3> parts{};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      if (i == 2 && (text.empty() || text.front() != '.')) break;
      if (text.empty() || text.front() != '.') return std::nullopt;
      text.remove_prefix(1);
    }
    parts[i] = take_number(text);
    if (parts[i] < 0) return std::nullopt;
  }
  // A build or pre-release may follow; another number may not.
  const bool builds = text.empty() || text.front() == '+' || text.starts_with(".dev") || text.starts_with(".post") ||
                      text.front() == 'a' || text.front() == 'b' || text.front() == 'r';
  if (!builds) return std::nullopt;
  return TorchVersion{parts[0], parts[1], parts[2]};
}

std::optional<TorchRange> TorchRange::parse(std::string_view text) {
  TorchRange range;
  range.text_ = text;
  constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {{{"<=", Relation::kAtMost},
                                                                                {">=", Relation::kAtLeast},
                                                                                {"==", Relation::kEqual},
                                                                                {"!=", Relation::kNot},
                                                                                {"<", Relation::kLess},
                                                                                {">", Relation::kMore}}};
  for (bool more = !trimmed(text).empty(); more;) {
    const size_t comma = text.find(',');
    std::string_view part = trimmed(text.substr(0, comma));
    more = comma != text.npos;
    if (more) text.remove_prefix(comma + 1);
    Condition condition;
    bool known = false;
    for (const auto& [sign, relation] : kRelations) {
      if (!part.starts_with(sign)) continue;
      condition.relation = relation;
      part.remove_prefix(sign.size());
      known = true;
      break;
    }
    const auto version = parse_torch_version(trimmed(part));
    if (!known || !version) return std::nullopt;
    condition.version = *version;
    range.conditions_.push_back(condition);
  }
  return range;
}

bool TorchRange::holds(const TorchVersion& version) const {
  for (const Condition& condition : conditions_) {
    const auto order = version <=> condition.version;
    const bool holds = condition.relation == Relation::kLess      ? order < 0
                       : condition.relation == Relation::kAtMost  ? order <= 0
                       : condition.relation == Relation::kEqual   ? order == 0
                       : condition.relation == Relation::kNot     ? order != 0
                       : condition.relation == Relation::kAtLeast ? order >= 0
                                                                  : order > 0;
    if (!holds) return false;
  }
  return true;
}

}  // namespace aotifuzz
