#include "campaign/feedback.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "campaign/coverage.h"
#include "core/value_recipe.h"

namespace aotifuzz {
namespace {

/// Pairs grow with the square: of the sizes that differ in name only (y.size(0) == x.size(0)) the first few say it all.
constexpr size_t kPairedSizesMax = 6;

/// Numbers in a message are sizes and indices: the same check with other numbers is the same check.
std::string words_of(const std::string& message) {
  std::string words;
  for (const char letter : message)
    if (letter < '0' || letter > '9') words += letter;
  return words;
}

/// Sizes of the case, by name.
std::vector<std::pair<std::string, int64_t>> sizes_of(const Case& c) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const CaseInput& input : c.inputs) {
    if (input.kind != CaseInput::Kind::kTensor) continue;
    for (size_t d = 0; d < input.sizes.size(); ++d)
      sizes.emplace_back(input.name + ".size(" + std::to_string(d) + ")", input.sizes[d]);
  }
  return sizes;
}

void add_pairs(const Case& c, std::vector<Feature>* out) {
  auto sizes = sizes_of(c);
  if (sizes.size() > kPairedSizesMax) sizes.resize(kPairedSizesMax);
  for (size_t a = 0; a < sizes.size(); ++a) {
    const std::string one = sizes[a].first + " " + coarse_size_class(sizes[a].second);
    for (size_t b = a + 1; b < sizes.size(); ++b)
      out->push_back({one + " with " + sizes[b].first + " " + coarse_size_class(sizes[b].second)});
    for (const CaseInput& input : c.inputs)
      if (input.kind == CaseInput::Kind::kTensor && input.storage_of.empty() && !input.zero_tensor)
        out->push_back({one + " with " + input.name + " " + std::string(value_kind_name(input.values.kind))});
  }
}

void add_verdict(const Verdict& verdict, std::vector<Feature>* out) {
  out->push_back({verdict.oracle + " " + std::string(verdict_status_name(verdict.status)) + " " +
                  words_of(verdict.status == VerdictStatus::kFail ? verdict.signature : verdict.reason)});
  for (const auto& [name, value] : verdict.measures)
    if (name == kNearness && verdict.status == VerdictStatus::kPass)
      out->push_back({verdict.oracle + " " + name, nearness_level(std::strtod(value.c_str(), nullptr))});
}

void add_death(const WorkerDeath& death, std::vector<Feature>* out) {
  out->push_back({"died " + std::to_string(static_cast<int>(death.kind)) + " of " + std::to_string(death.signal) +
                  " in " + std::string(stage_name(death.stage)) + " " + death.step});
}

}  // namespace

std::string coarse_size_class(int64_t size) {
  if (size <= 1) return std::to_string(size);
  if (size % 16 == 0) return "of 16";
  return size < 16 ? "<16" : ">16";
}

uint8_t nearness_level(double share) {
  constexpr std::array<double, 7> kFrom = {1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 3.0 / 4};
  uint8_t level = 1;
  for (const double from : kFrom) level += share >= from ? 1 : 0;
  return level;
}

std::vector<Feature> features_of(const Case& c, const std::vector<Violation>& broken, const CaseResult& result,
                                 const std::vector<Verdict>& verdicts) {
  std::vector<Feature> features;
  // Of one case alone, all its cells are new.
  Coverage coverage;
  coverage.add(c, broken);
  for (const std::string& cell : coverage.cells()) features.push_back({cell});
  add_pairs(c, &features);
  if (result.report)
    for (const RunSummary& run : result.report->runs)
      features.push_back(
          {run.run + " " + std::string(outcome_kind_name(run.outcome.kind)) + " " + words_of(run.outcome.message)});
  if (result.death) add_death(*result.death, &features);
  for (const Verdict& verdict : verdicts) add_verdict(verdict, &features);
  return features;
}

std::vector<EngineCounter> counters_of(const std::vector<Feature>& features) {
  std::vector<EngineCounter> counters;
  counters.reserve(features.size());
  for (const Feature& feature : features) {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char letter : feature.name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    // Counter 0 is the engine's own.
    const auto index = static_cast<uint16_t>(1 + (hash ^ hash >> 32) % (EngineCounter::kCount - 1));
    counters.push_back({index, feature.level});
  }
  return counters;
}

}  // namespace aotifuzz
