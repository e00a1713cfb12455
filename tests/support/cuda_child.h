#pragma once

#include <functional>
#include <string>
#include <vector>

namespace aotifuzz::test {

/// "" when this machine has a CUDA device, else why not. Does not initialise CUDA in this process: children may.
std::string why_no_cuda();

/// Runs `body` in a forked process, since a fault of the device ends all use of it there. Its result, or -1 for a death
/// or an exception.
int in_child(const std::function<int()>& body);

/// The same for many bodies, a few at a time; results in order.
std::vector<int> in_children(const std::vector<std::function<int()>>& bodies);

/// Creates the context of the first device and makes it current. For children.
void use_first_device();

/// Launches one thread that writes the byte at `start + offset`, or reads it and stores it at `out`.
void poke(void* start, long long offset, bool write, void* out);

/// Waits for the device; the error code.
int wait_for_device();

/// Copies a byte of the device's to the host; the device must be idle.
unsigned char byte_at(const void* address);

}  // namespace aotifuzz::test

/// In a test body: leaves the test with a reason where there is no GPU.
#define AOTIFUZZ_NEEDS_CUDA()                                                        \
  do {                                                                               \
    if (const std::string reason = ::aotifuzz::test::why_no_cuda(); !reason.empty()) \
      GTEST_SKIP() << "no CUDA device: " << reason;                                  \
  } while (false)
