#include "campaign/case_executor.h"

#include <cstring>

namespace aotifuzz {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace aotifuzz
