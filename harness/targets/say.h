#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace aotifuzz {

/// Text for people, to stderr. A closed or full stderr (`2>&1 | head -1`) must not end a campaign: failures are
/// ignored.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

/// A line for people, where there is one.
inline void say_if(const std::string& line) {
  if (!line.empty()) say("{}\n", line);
}

}  // namespace aotifuzz
