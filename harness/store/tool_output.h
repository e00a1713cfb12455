#pragma once

#include <string>
#include <vector>

namespace aotifuzz {

/// What a program prints on stdout; its stderr is thrown away, and so is how it ends. `words`: its name, looked for in
/// PATH, and its arguments; no shell sees them. "" when there is no such program.
std::string tool_output(std::vector<std::string> words);

}  // namespace aotifuzz
