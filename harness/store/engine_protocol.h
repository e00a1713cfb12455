#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aotifuzz {

/// What passes between a job of a campaign and its engine: `aotifuzz-engine`, a process that is libFuzzer and nothing
/// else. libFuzzer decides which earlier case is built upon; it asks the job for everything that takes knowledge of
/// packages. A process of its own, because libFuzzer keeps one state a process, ends by exit(), and takes over signals.
/// Units are case texts (store/case_text.h).
///
/// The engine asks, the job answers; both ends are of one build on one machine, so integers pass as they lie in memory.
///   kMutate  seed, unit           -> text of a case made from it
///   kCross   seed, unit, unit     -> text of a case made from both
///   kRun     unit                 -> whether the case was run, and what it reached
struct EngineRequest {
  enum class Kind : uint32_t { kMutate, kCross, kRun } kind = Kind::kRun;
  uint32_t seed = 0;
  std::string unit, other;
};

/// One thing that a case reached, as libFuzzer counts it: each pair of (counter, level) is one feature.
struct EngineCounter {
  static constexpr uint32_t kCount = 1 << 15;
  uint16_t index = 0;  ///< below kCount
  uint8_t level = 1;   ///< 1..8
  friend bool operator==(const EngineCounter&, const EngineCounter&) = default;
};

/// Descriptors that the engine finds open.
inline constexpr int kEngineReadFd = 3, kEngineWriteFd = 4;
/// Longer units are refused by both sides: more than any case text, and less than what would hurt.
inline constexpr uint32_t kEngineUnitMax = 1 << 20;

/// Blocking; false when the other side is gone, or sends what is no message.
bool send_request(int fd, const EngineRequest& request);
bool receive_request(int fd, EngineRequest* request);
bool send_text(int fd, const std::string& text);
bool receive_text(int fd, std::string* text);
/// `ran` false: the case was passed over, and says nothing.
bool send_counters(int fd, bool ran, const std::vector<EngineCounter>& counters);
bool receive_counters(int fd, bool* ran, std::vector<EngineCounter>* counters);

}  // namespace aotifuzz
