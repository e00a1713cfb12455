#include "campaign/novelty.h"

#include <set>

namespace aotifuzz {
namespace {

/// One for each condition that `c` breaks: of two at once, either decides the outcome.
std::set<std::string> sorts_of(const Case& c, const std::vector<Violation>& broken) {
  std::set<std::string> sorts;
  for (const Violation& violation : broken)
    sorts.insert((c.input_checks ? "checked: " : "unchecked: ") + violation.text);
  return sorts;
}

}  // namespace

bool Novelty::is_worth_running(const Case& c, const std::vector<Violation>& broken) {
  bool quiet = !broken.empty();
  bool due = false;
  for (const std::string& name : sorts_of(c, broken)) {
    Sort& sort = sorts_[name];
    quiet &= sort.quiet >= kQuiet;
    due |= ++sort.skipped >= kOneIn;
  }
  if (!quiet || due) return true;
  ++passed_over_;
  return false;
}

void Novelty::ran(const Case& c, const std::vector<Violation>& broken, bool brought_news) {
  for (const std::string& name : sorts_of(c, broken)) {
    Sort& sort = sorts_[name];
    sort.skipped = 0;
    sort.quiet = brought_news ? 0 : sort.quiet + 1;
  }
}

}  // namespace aotifuzz
