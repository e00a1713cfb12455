#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotifuzz {

/// How one of several jobs draws (swarm testing): some generators of `mixed` are off, others favoured or held back, so
/// that what one crowds out another has room for.
struct Swarm {
  struct Part {
    std::string name;  ///< of a generator
    int weight = 0;    ///< in `mixed`
  };
  std::vector<Part> parts;

  /// Drawn from `seed` alone: each part but the first is left out once in four times, else its weight is halved, kept,
  /// doubled or taken four times.
  static Swarm drawn(std::vector<Part> parts, uint64_t seed);
  /// What differs from `usual`: "no checks, special x4, beyond x0.5"; "" = nothing.
  std::string text(const std::vector<Part>& usual) const;
};

}  // namespace aotifuzz
