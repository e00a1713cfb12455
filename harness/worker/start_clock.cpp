#include "worker/start_clock.h"

#include <time.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace aotifuzz {
namespace {

double now_ms() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// To the system's tick, 10 ms.
double process_start_ms() {
  std::ifstream in("/proc/self/stat");
  std::string text;
  std::getline(in, text);
  // The name in parentheses may hold anything; the start is the 20th field behind it.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return now_ms();
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  return 1e3 * std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

StartClock::StartClock() : last_ms_(process_start_ms()) {}

void StartClock::part(const std::string& name) {
  const double now = now_ms();
  parts_.push_back(name + " " + std::to_string(std::lround(now - last_ms_)) + " ms");
  last_ms_ = now;
}

}  // namespace aotifuzz
