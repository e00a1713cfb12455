#include "campaign/passes/calls_pass.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "campaign/passes/layouts_pass.h"
#include "campaign/passes/sizes_pass.h"
#include "campaign/passes/values_pass.h"

namespace aotifuzz {
namespace {

class Proposals {
 public:
  explicit Proposals(const Case& c) : case_(c) {}
  template <class Change>
  void add(Change change) {
    Case one = case_;
    change(one);
    if (one != case_ && std::find(out_.begin(), out_.end(), one) == out_.end()) out_.push_back(std::move(one));
  }
  std::vector<Case> take() { return std::move(out_); }

 private:
  const Case& case_;
  std::vector<Case> out_;
};

}  // namespace

std::vector<Case> CallsPass::propose(const Case& c, const Contract&) const {
  Proposals proposals(c);
  proposals.add([](Case& x) {
    x.then.clear();
    x.callers = 1;
    x.constants = CaseConstants::kExported;
  });
  proposals.add([](Case& x) { x.callers = 1; });
  proposals.add([](Case& x) { x.then.clear(); });
  proposals.add([](Case& x) { x.constants = CaseConstants::kExported; });
  proposals.add([](Case& x) {
    if (x.constants == CaseConstants::kSwapped) x.constants = CaseConstants::kUpdated;
  });
  const auto half = static_cast<std::ptrdiff_t>(c.then.size() / 2);
  if (half > 0) {
    proposals.add([&](Case& x) { x.then.erase(x.then.begin(), x.then.begin() + half); });
    proposals.add([&](Case& x) { x.then.erase(x.then.begin() + half, x.then.end()); });
  }
  for (size_t i = 0; i < c.then.size(); ++i) {
    proposals.add([&](Case& x) { x.then.erase(x.then.begin() + static_cast<std::ptrdiff_t>(i)); });
    proposals.add([&](Case& x) { x.then[i].times = 1; });
    proposals.add([&](Case& x) { x.then[i].times = (x.then[i].times + 1) / 2; });
  }
  proposals.add([](Case& x) { x.callers = std::min(x.callers, 2); });
  return proposals.take();
}

std::vector<Case> CallInputsPass::propose(const Case& c, const Contract& contract) const {
  Proposals proposals(c);
  const std::unique_ptr<ReducerPass> passes[] = {std::make_unique<SizesPass>(), std::make_unique<LayoutsPass>(),
                                                 std::make_unique<ValuesPass>(), std::make_unique<SmallestSizesPass>()};
  for (size_t i = 0; i < c.then.size(); ++i) {
    proposals.add([&](Case& x) { x.then[i].inputs = x.inputs; });
    const Case call = c.call(i);
    for (const auto& pass : passes)
      for (Case& simpler : pass->propose(call, contract))
        proposals.add([&](Case& x) { x.then[i].inputs = std::move(simpler.inputs); });
  }
  return proposals.take();
}

}  // namespace aotifuzz
