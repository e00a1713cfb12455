#include "worker/constants_update.h"

#include <ATen/ATen.h>

#include "worker/error_text.h"
#include "worker/run_values.h"

namespace aotifuzz {
namespace {

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

ConstantsUpdate::ConstantsUpdate(CaseConstants constants, Subject& package, std::vector<ReferenceProgram*> references,
                                 bool* spent)
    : package_(package), references_(std::move(references)), spent_(spent) {
  for (const ReferenceProgram* reference : references_)
    if (reference->writes_weights()) throw NotUpdated("the program may write its weights");
  // All of it is made before anything is changed.
  std::map<std::string, at::Tensor> halves;
  for (const auto& [fqn, value] : package_.constants()) {
    bool known = is_plain(value);
    for (const ReferenceProgram* reference : references_) known = known && reference->weight(fqn).defined();
    if (known) halves.emplace(fqn, half_of(value));
  }
  if (halves.empty()) throw NotUpdated("the package has no floating weight that can be updated");
  std::vector<std::map<std::string, at::Tensor>> values(references_.size());
  for (size_t i = 0; i < references_.size(); ++i)
    for (const auto& [fqn, value] : halves) values[i].emplace(fqn, value.to(references_[i]->weight(fqn).device()));
  try {
    package_.update_constants(halves, constants == CaseConstants::kSwapped);
  } catch (const std::exception& error) {
    restore();
    throw NotUpdated("the loader refuses: " + clean_error(text_of(error)));
  }
  for (size_t i = 0; i < references_.size(); ++i) references_[i]->replace_weights(std::move(values[i]));
}

ConstantsUpdate::~ConstantsUpdate() {
  for (ReferenceProgram* reference : references_) reference->replace_weights({});
  restore();
}

void ConstantsUpdate::restore() {
  try {
    package_.restore_constants();
  } catch (const std::exception&) {
    *spent_ = true;
  }
}

}  // namespace aotifuzz
