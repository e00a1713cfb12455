#include "campaign/passes/run_options_pass.h"

namespace aotifuzz {

std::vector<Case> RunOptionsPass::propose(const Case& c, const Contract&) const {
  std::vector<Case> out;
  Case all = c;
  all.runs = 1;
  all.threads = 1;
  all.input_checks = false;
  if (all != c) out.push_back(all);
  const auto one = [&](auto change) {
    Case single = c;
    change(single);
    if (single != c && single != all) out.push_back(std::move(single));
  };
  one([](Case& x) { x.runs = 1; });
  one([](Case& x) {
    if (x.runs > 2) x.runs = 2;
  });
  // As few as tell of a leak.
  one([](Case& x) {
    if (x.runs > kLeakRunsLeast) x.runs = kLeakRunsLeast;
  });
  one([](Case& x) { x.threads = 1; });
  one([](Case& x) { x.input_checks = false; });
  return out;
}

}  // namespace aotifuzz
