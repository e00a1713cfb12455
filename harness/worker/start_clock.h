#pragma once

#include <string>
#include <vector>

namespace aotifuzz {

/// How long each part of a worker's start takes.
class StartClock {
 public:
  /// Begins when the process did, so that the first part holds the loading of its libraries.
  StartClock();
  /// What was done since the last part, or the start.
  void part(const std::string& name);
  /// "libraries 210 ms", in order.
  const std::vector<std::string>& parts() const { return parts_; }

 private:
  double last_ms_;
  std::vector<std::string> parts_;
};

}  // namespace aotifuzz
