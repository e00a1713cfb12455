#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "gate/gate_server.h"

namespace aotifuzz {

/// A process that judges one operator, as its server sees it.
struct GateServer::Child {
  Job job;
  GateCrumb* crumb = nullptr;
  pid_t pid = -1;
  int pipe = -1;
  std::string pending;
  uint64_t beat = 0;
  std::chrono::steady_clock::time_point beat_time;
  std::chrono::steady_clock::time_point start;
  bool hung = false;
};

}  // namespace aotifuzz
