#include "campaign/passes/sizes_pass.h"

#include <algorithm>
#include <map>

#include "campaign/size_variables.h"

namespace aotifuzz {
namespace {

using Change = std::map<size_t, int64_t>;

class Proposals {
 public:
  explicit Proposals(const SizeVariables& sizes, const Case& c) : sizes_(sizes), case_(c) {}
  void add(const Change& change) {
    if (change.empty()) return;
    auto made = sizes_.with(change);
    if (made && !(*made == case_) && std::find(out_.begin(), out_.end(), *made) == out_.end())
      out_.push_back(std::move(*made));
  }
  std::vector<Case> take() { return std::move(out_); }

 private:
  const SizeVariables& sizes_;
  const Case& case_;
  std::vector<Case> out_;
};

/// least, then half way, three quarters... up to one below.
std::vector<int64_t> descent(int64_t least, int64_t value) {
  std::vector<int64_t> out;
  for (int64_t distance = value - least; distance > 0; distance /= 2) out.push_back(value - distance);
  return out;
}

}  // namespace

std::vector<Case> SizesPass::propose(const Case& c, const Contract& contract) const {
  const SizeVariables sizes(c, contract);
  const auto& variables = sizes.variables();
  Proposals proposals(sizes, c);

  for (const int64_t target : {0, 1, 2, 4}) {
    Change all;
    for (size_t v = 0; v < variables.size(); ++v) {
      const int64_t value = std::max<int64_t>(target, variables[v].least);
      if (value < variables[v].value) all[v] = value;
    }
    proposals.add(all);
  }
  Change halves;
  for (size_t v = 0; v < variables.size(); ++v)
    if (const int64_t middle = variables[v].least + (variables[v].value - variables[v].least) / 2;
        middle < variables[v].value)
      halves[v] = middle;
  proposals.add(halves);

  // Largest first: that is where the time goes.
  std::vector<size_t> order(variables.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return variables[a].value > variables[b].value; });
  for (const size_t v : order)
    for (const int64_t value : descent(variables[v].least, variables[v].value)) proposals.add({{v, value}});

  for (size_t a = 0; a < variables.size(); ++a) {
    for (size_t b = a + 1; b < variables.size(); ++b) {
      const int64_t room = std::min(variables[a].value - variables[a].least, variables[b].value - variables[b].least);
      for (const int64_t rest : descent(0, room)) {
        const int64_t by = room - rest;
        proposals.add({{a, variables[a].value - by}, {b, variables[b].value - by}});
      }
    }
  }
  // A step that keeps divisibility or parity where one less does not.
  for (const size_t v : order)
    for (const int64_t step : {2, 3, 4, 8, 16})
      if (variables[v].value - step >= variables[v].least) proposals.add({{v, variables[v].value - step}});
  return proposals.take();
}

std::vector<Case> SmallestSizesPass::propose(const Case& c, const Contract& contract) const {
  const SizeVariables sizes(c, contract);
  const auto& variables = sizes.variables();
  Proposals proposals(sizes, c);
  for (size_t v = 0; v < variables.size(); ++v) {
    const int64_t end = std::min(variables[v].value, variables[v].least + kTries);
    for (int64_t value = variables[v].least; value < end; ++value) proposals.add({{v, value}});
  }
  return proposals.take();
}

}  // namespace aotifuzz
