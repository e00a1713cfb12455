#pragma once

#include <string>

namespace aotifuzz {

/// A line of source that is known as such, and not by an address of code: Python's.
struct SourcePlace {
  std::string file;  ///< "" = not known
  int line = 0;
  std::string function;
};

}  // namespace aotifuzz
