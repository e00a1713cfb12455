#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "worker/fork_server.h"

int main(int argc, char** argv) {
  using namespace aotifuzz;
  const auto arguments = parse_worker_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!arguments) return refuse_arguments("aotifuzz-worker", arguments.error());
  const int code = ForkServer(*arguments, choose_pipes()).run();
  std::fflush(nullptr);
  _exit(code);  // packages stay loaded: their destructors are not ours to run
}
