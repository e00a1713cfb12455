#pragma once

#include <memory>

#include "core/generator.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// Makes cases from cases, for a campaign that knows which are worth building upon. Takes every decision from Choices;
/// stateless, safe to share between threads. A case whose sizes change is within the contract again but for its values
/// and placement; other changes keep what the old case broke on purpose.
class CaseMutator {
 public:
  /// `fresh` draws what is built upon nothing.
  CaseMutator(CaseModelPtr model, std::shared_ptr<const Generator> fresh)
      : model_(std::move(model)), fresh_(std::move(fresh)) {}

  /// Number, names and kinds of inputs as in the contract.
  bool fits(const Case& c) const;

  /// One to three changes: a size moved, doubled, halved or set to a landmark; all sizes anew; the values of an input
  /// anew or with another seed; one number of a recipe; placement; layout; how it is run. Every second case is fresh: what
  /// nobody built upon reaches most of what there is.
  Case mutate(const Case& c, Choices& choices) const;
  /// Sizes of one, and each input's values and placement from either.
  Case cross(const Case& c, const Case& other, Choices& choices) const;

 private:
  void change(Case& c, Choices& choices) const;
  void change_size(Case& c, Choices& choices) const;
  void make_modest(Case& c, Choices& choices) const;
  void change_recipe(Case& c, Choices& choices) const;
  void take_sizes(const SlotValues& values, Case& c, Choices& choices) const;

  CaseModelPtr model_;
  std::shared_ptr<const Generator> fresh_;
};

}  // namespace aotifuzz
