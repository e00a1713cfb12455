#include "worker/stderr_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "core/error.h"

namespace aotifuzz {

StderrCapture StderrCapture::install() {
  struct stat status {};
  const int mode = fcntl(STDERR_FILENO, F_GETFL);
  const bool readable = fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode) && (mode & O_ACCMODE) == O_RDWR;
  if (readable) return StderrCapture(STDERR_FILENO, false);
  const int fd = memfd_create("aotifuzz-stderr", MFD_CLOEXEC);
  if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) != 0 || dup2(fd, STDERR_FILENO) < 0)
    throw HarnessError("the worker's stderr cannot be captured", "memfd_create", "run on Linux 3.17 or newer");
  return StderrCapture(fd, true);
}

long StderrCapture::size() const {
  struct stat status {};
  return fstat(fd_, &status) == 0 ? static_cast<long>(status.st_size) : 0;
}

void StderrCapture::mark() {
  mark_ = size();
  if (own_ && mark_ > kLarge && ftruncate(fd_, 0) == 0) mark_ = 0;  // written with O_APPEND: the next byte lands at 0
}

std::string StderrCapture::take() {
  std::cerr.flush();
  std::fflush(stderr);
  std::string text(kLongest, '\0');
  const ssize_t n = pread(fd_, text.data(), text.size(), mark_);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace aotifuzz
