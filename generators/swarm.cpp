#include "generators/swarm.h"

#include "generators/rapidcheck_choices.h"

namespace aotifuzz {
namespace {

/// Apart from the streams that cases are drawn from.
constexpr uint64_t kStream = ~uint64_t{0};
constexpr int kHalves[] = {1, 2, 4, 8};  ///< factors, in halves
constexpr const char* kFactors[] = {"x0.5", "", "x2", "x4"};

}  // namespace

Swarm Swarm::drawn(std::vector<Part> parts, uint64_t seed) {
  RapidCheckChoices choices(seed, kStream);
  Swarm out;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool off = choices.chance(1, 4);
    const uint64_t factor = choices.below(4);
    if (i > 0 && off) continue;
    // Doubled all: halves of small weights stay apart from nothing.
    parts[i].weight = i == 0 ? parts[i].weight * 2 : parts[i].weight * kHalves[factor];
    out.parts.push_back(std::move(parts[i]));
  }
  return out;
}

std::string Swarm::text(const std::vector<Part>& usual) const {
  std::string out;
  for (const Part& part : usual) {
    std::string word = "no " + part.name;
    for (const Part& mine : parts) {
      if (mine.name != part.name) continue;
      word.clear();
      for (size_t i = 0; i < std::size(kHalves); ++i)
        if (mine.weight == part.weight * kHalves[i] && *kFactors[i]) word = part.name + " " + kFactors[i];
    }
    if (!word.empty()) out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

}  // namespace aotifuzz
