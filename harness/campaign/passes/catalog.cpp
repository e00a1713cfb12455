#include "campaign/passes/catalog.h"

#include "campaign/passes/calls_pass.h"
#include "campaign/passes/layouts_pass.h"
#include "campaign/passes/real_values_pass.h"
#include "campaign/passes/run_options_pass.h"
#include "campaign/passes/sizes_pass.h"
#include "campaign/passes/values_pass.h"

namespace aotifuzz {
namespace {

template <class Pass>
std::unique_ptr<ReducerPass> make() {
  return std::make_unique<Pass>();
}

}  // namespace

const std::vector<PassEntry>& pass_catalog() {
  static const std::vector<PassEntry> kCatalog = {
      {"run_options", "fewer runs, one thread, input checks off", make<RunOptionsPass>},
      {"calls", "no further calls, one caller, the weights as exported", make<CallsPass>},
      {"sizes", "sizes toward their least by halving, tied dimensions together", make<SizesPass>},
      {"layouts", "own storage, exported strides, no offset, aligned", make<LayoutsPass>},
      {"values", "values toward 0, 1, a ramp, one non-zero element, small integers", make<ValuesPass>},
      {"real_values", "values of files toward one element, their range, their distinct values", make<RealValuesPass>},
      {"call_inputs", "sizes, layouts and values of further calls", make<CallInputsPass>},
      {"smallest_sizes", "every smaller value of each size, from the least upward", make<SmallestSizesPass>},
      {"elements", "patches dropped, short tensors written out, each number toward 0 and 1", make<ElementsPass>},
  };
  return kCatalog;
}

std::vector<std::unique_ptr<ReducerPass>> make_passes() {
  std::vector<std::unique_ptr<ReducerPass>> out;
  for (const PassEntry& entry : pass_catalog()) out.push_back(entry.make());
  return out;
}

}  // namespace aotifuzz
