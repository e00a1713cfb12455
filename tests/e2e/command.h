#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/e2e/packed.h"

namespace aotifuzz::test {

/// The whole of a file; "" when it cannot be read.
inline std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The program that is built, with these arguments, in `folder` ("" = here).
inline Ended aotifuzz(std::vector<std::string> arguments, const std::string& folder = "") {
  arguments.insert(arguments.begin(), AOTIFUZZ_PROGRAM);
  return run_program(arguments, folder);
}

}  // namespace aotifuzz::test
