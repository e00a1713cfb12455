// libFuzzer in a process of its own, one for each job of a guided campaign: store/engine_protocol.h says why and how
// the two talk. Arguments are libFuzzer's. Not for people: `aotifuzz fuzz` starts it.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "store/engine_protocol.h"

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv, int (*callback)(const uint8_t* data, size_t size));

namespace {

using namespace aotifuzz;

// libFuzzer reads this section after each unit and clears it before the next one.
__attribute__((section("__libfuzzer_extra_counters"), used)) uint8_t counters[EngineCounter::kCount];

/// The least count of each of libFuzzer's eight classes: 1, 2, 3, 4..7, 8..15, 16..31, 32..127, 128 and more.
constexpr std::array<uint8_t, 9> kCountOfLevel = {0, 1, 2, 3, 4, 8, 16, 32, 128};

/// The job is gone, and so is whoever would want a word.
void require(bool ok) {
  if (!ok) ::_exit(0);
}

std::string text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

void ask(EngineRequest::Kind kind, uint32_t seed, std::string unit, std::string other = "") {
  require(send_request(kEngineWriteFd, {kind, seed, std::move(unit), std::move(other)}));
}

size_t take_text(uint8_t* data, size_t size_max) {
  std::string text;
  require(receive_text(kEngineReadFd, &text));
  if (text.size() > size_max) return 0;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

int run_unit(const uint8_t* data, size_t size) {
  // What libFuzzer starts from without a corpus. Something must be covered, or it takes the program for one without
  // instrumentation.
  counters[0] = 1;
  if (size <= 1) return 0;
  ask(EngineRequest::Kind::kRun, 0, text_of(data, size));
  bool ran = false;
  std::vector<EngineCounter> reached;
  require(receive_counters(kEngineReadFd, &ran, &reached));
  for (const EngineCounter& counter : reached)
    counters[counter.index] = std::max(counters[counter.index], kCountOfLevel[counter.level]);
  return ran ? 0 : -1;  // -1: not for the corpus
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned int seed) {
  ask(EngineRequest::Kind::kMutate, seed, text_of(data, size));
  return take_text(data, size_max);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t one_size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t size_max, unsigned int seed) {
  ask(EngineRequest::Kind::kCross, seed, text_of(one, one_size), text_of(other, other_size));
  return take_text(out, size_max);
}

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return LLVMFuzzerRunDriver(&argc, &argv, run_unit);
}
