#pragma once

#include <string>

namespace aotifuzz {

/// Reads what torch.save wrote with libtorch's own reader, which executes nothing, and prints it to stdout as case text
/// with an input for each value; the values go to `folder`, a .npy each. What cannot be read prints one line, "error:
/// ...". For a process of its own: a hostile file may end it. Returns the exit code.
int print_saved_tensors(const std::string& path, const std::string& folder);

}  // namespace aotifuzz
