#include "worker/constants_update.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "worker/error_text.h"
#include "worker/run_values.h"

namespace aotifuzz {
namespace {

constexpr const char* kNotUpdated = "constants are not updated";

/// Exact, but for what lies in the subnormal range. Layout is kept.
at::Tensor half_of(const at::Tensor& value) {
  at::Tensor out = at::empty_strided(value.sizes(), value.strides(), value.options());
  const auto wide = c10::elementSize(value.scalar_type()) < 4 ? at::kFloat : value.scalar_type();
  return out.copy_(value.to(wide).mul(0.5));
}

bool is_plain(const at::Tensor& value) {
  return value.defined() && value.layout() == at::kStrided && value.numel() > 0 && value.is_floating_point() &&
         value.is_non_overlapping_and_dense();
}

}  // namespace

ConstantsUpdate::ConstantsUpdate(CaseConstants constants, Subject& package, std::vector<ReferenceProgram*> references)
    : package_(package), references_(std::move(references)) {
  for (const ReferenceProgram* reference : references_)
    if (reference->writes_weights())
      throw HarnessError("the program writes its weights", kNotUpdated, "take constants= out of the case");
  std::map<std::string, at::Tensor> halves;
  for (const auto& [fqn, value] : package_.constants()) {
    bool known = is_plain(value);
    for (const ReferenceProgram* reference : references_) known = known && reference->weight(fqn).defined();
    if (known) halves.emplace(fqn, half_of(value));
  }
  if (halves.empty())
    throw HarnessError("the package has no floating weight that can be updated", kNotUpdated,
                       "take constants= out of the case");
  try {
    package_.update_constants(halves, constants == CaseConstants::kSwapped);
  } catch (const std::exception& error) {
    package_.restore_constants();
    throw HarnessError("the loader refuses: " + clean_error(text_of(error)), kNotUpdated,
                       "take constants= out of the case");
  }
  for (ReferenceProgram* reference : references_) {
    std::map<std::string, at::Tensor> values;
    for (const auto& [fqn, value] : halves) values.emplace(fqn, value.to(reference->weight(fqn).device()));
    reference->replace_weights(std::move(values));
  }
}

ConstantsUpdate::~ConstantsUpdate() {
  for (ReferenceProgram* reference : references_) reference->replace_weights({});
  package_.restore_constants();
}

}  // namespace aotifuzz
