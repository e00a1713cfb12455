#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "worker/fork_server.h"
#include "worker/saved_tensors.h"

int main(int argc, char** argv) {
  using namespace aotifuzz;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "--unpickle" && words[2] == "--save")
    return print_saved_tensors(words[1], words[3]);
  const auto arguments = parse_worker_arguments(words);
  if (!arguments) return refuse_arguments("aotifuzz-worker", arguments.error());
  const int code = ForkServer(*arguments, choose_pipes()).run();
  std::fflush(nullptr);
  _exit(code);  // packages stay loaded: their destructors are not ours to run
}
