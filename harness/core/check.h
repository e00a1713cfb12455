#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace aotifuzz::detail {

/// Prints the collected message and aborts when it goes out of scope: a broken invariant of ours is never a finding.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition) {
    text_ << "aotifuzz: internal error: " << condition << " at " << file << ":" << line << " ";
  }
  [[noreturn]] ~CheckFailure() {
    std::fprintf(stderr, "%s\n", text_.str().c_str());
    std::abort();
  }
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

}  // namespace aotifuzz::detail

/// CHECK(condition) << values: for bugs of ours only; user errors are HarnessError, package errors are data.
/// Named AOTIFUZZ_CHECK because c10 owns CHECK in files that include libtorch.
#define AOTIFUZZ_CHECK(condition) \
  if (condition) {                \
  } else                          \
    ::aotifuzz::detail::CheckFailure(__FILE__, __LINE__, #condition).stream()
