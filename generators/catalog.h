#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/generator.h"
#include "generators/case_model.h"
#include "generators/swarm.h"

namespace aotifuzz {

/// One generator: what --list prints, what `mixed` draws from, what the conformance tests run over.
struct GeneratorRow {
  std::string_view name;
  std::string_view help;
  int weight = 0;  ///< share in `mixed`, in percent; 0: not part of it
  /// What every case of it is, for the conformance tests and the summary.
  enum class Legality : uint8_t { kInside, kOutside, kEither } legality = Legality::kInside;
  bool (*applies)(const CaseModel& model);
  std::unique_ptr<Generator> (*make)(CaseModelPtr model);
};

std::span<const GeneratorRow> generator_catalog();

/// Computes the model that make_generator and seed_cases share. Throws HarnessError when no sizes inside the contract
/// could be found.
CaseModelPtr make_case_model(const Contract& contract, const ContractBounds& bounds);

/// The parts of `mixed` that apply to this program, with their weights.
std::vector<Swarm::Part> mixed_parts(const CaseModel& model);
/// `mixed` with other parts or weights, all of them names of the catalog.
std::unique_ptr<Generator> make_mixed(const Swarm& swarm, CaseModelPtr model);

/// Throws UsageError for a name that the catalog does not have, HarnessError for a generator that does not apply.
std::unique_ptr<Generator> make_generator(std::string_view name, CaseModelPtr model);

}  // namespace aotifuzz
