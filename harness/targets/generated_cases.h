#pragma once

#include <memory>
#include <string>
#include <vector>

#include "campaign/case_source.h"
#include "generators/case_mutator.h"
#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "generators/seed_cases.h"

namespace aotifuzz {

/// The catalog's generators as a campaign wants them.
class GeneratedCases final : public CaseSource {
 public:
  /// `swarmed`: as one of several jobs, with a mix of its own that comes from the seed; only where `generator` is
  /// mixed.
  GeneratedCases(const Contract& contract, const ContractBounds& bounds, const std::string& generator, uint64_t seed,
                 bool swarmed)
      : contract_(contract),
        model_(make_case_model(contract, bounds)),
        generator_(swarmed && generator == "mixed" ? swarm(seed) : make_generator(generator, model_)),
        mutator_(model_, generator_),
        seed_(seed) {}
  std::string draws() const override { return draws_; }
  std::vector<Case> given() const override { return first_; }
  std::vector<Case> seeds() const override { return seed_cases(*model_); }
  /// Cases that come before all others; jobs share them, so each source must be told.
  void start_with(std::vector<Case> first) { first_ = std::move(first); }
  Case draw(uint64_t k) const override {
    RapidCheckChoices choices(seed_, k);
    return generator_->draw(choices, contract_);
  }
  bool fits(const Case& c) const override { return mutator_.fits(c); }
  Case mutate(const Case& c, uint64_t seed) const override {
    RapidCheckChoices choices(seed_ ^ kMutations, seed);
    return mutator_.mutate(c, choices);
  }
  Case cross(const Case& c, const Case& other, uint64_t seed) const override {
    RapidCheckChoices choices(seed_ ^ kMutations, seed);
    return mutator_.cross(c, other, choices);
  }

 private:
  std::unique_ptr<Generator> swarm(uint64_t seed) {
    const std::vector<Swarm::Part> usual = mixed_parts(*model_);
    const Swarm mine = Swarm::drawn(usual, seed);
    draws_ = mine.text(usual);
    return make_mixed(mine, model_);
  }

  /// Streams of their own, apart from those of draw().
  static constexpr uint64_t kMutations = uint64_t{1} << 63;
  std::string draws_;
  const Contract& contract_;
  CaseModelPtr model_;
  std::shared_ptr<const Generator> generator_;
  CaseMutator mutator_;
  uint64_t seed_;
  std::vector<Case> first_;
};

}  // namespace aotifuzz
