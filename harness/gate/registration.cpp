#include "gate/registration.h"

#include <cstdlib>
#include <sstream>

namespace aotifuzz {
namespace {

/// "registered at FILE:LINE..." anywhere in the text.
Registration position_in(const std::string& text) {
  const std::string mark = "registered at ";
  const size_t begin = text.find(mark);
  if (begin == std::string::npos) return {};
  const std::string rest = text.substr(begin + mark.size());
  // A path may have colons of its own: the line number follows the last one before a blank.
  const size_t end = rest.find_first_of(" \n");
  const size_t colon = rest.rfind(':', end);
  if (colon == std::string::npos) return {};
  const int line = std::atoi(rest.c_str() + colon + 1);
  return line > 0 ? Registration{rest.substr(0, colon), line} : Registration{};
}

}  // namespace

Registration registration_of(const c10::OperatorHandle& op, const std::string& key) {
  std::istringstream lines(op.dumpState());
  Registration composite;
  for (std::string line; std::getline(lines, line);) {
    if (!key.empty() && line.rfind(key + ":", 0) == 0) return position_in(line);
    if (line.rfind("Composite", 0) == 0 && composite.line == 0) composite = position_in(line);
  }
  return !key.empty() && composite.line > 0 ? composite : position_in(op.debug());
}

}  // namespace aotifuzz
