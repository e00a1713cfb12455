#pragma once

#include <string>

namespace aotifuzz {

/// What a package writes to stderr: packages of torch 2.11 say only there why they refuse. If stderr is a file that can
/// be read back (the parent gives its log) it stays that file; otherwise, from install() on, it is a memory file of the
/// process's own, dropped when it grows large.
class StderrCapture {
 public:
  /// Throws HarnessError when the system gives no memory file.
  static StderrCapture install();

  /// Starts listening here.
  void mark();
  /// What was written since mark(), at most its first `kLongest` bytes.
  std::string take();

  static constexpr size_t kLongest = 4096;
  static constexpr long kLarge = 1 << 16;

 private:
  StderrCapture(int fd, bool own) : fd_(fd), own_(own) {}
  long size() const;
  int fd_;
  bool own_;
  long mark_ = 0;
};

}  // namespace aotifuzz
