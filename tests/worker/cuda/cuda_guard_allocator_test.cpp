#include "worker/cuda/cuda_guard_allocator.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "tests/support/cuda_child.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

using test::byte_at;
using test::in_child;
using test::in_children;
using test::poke;
using test::use_first_device;
using test::wait_for_device;

enum Seen : int { kNothing = 0, kFault = 1, kDamage = 2, kOther = 3 };

struct Access {
  size_t bytes = 0;  ///< of the block
  long long offset = 0;
  bool write = false;
  DeviceRun run{};
  bool after_free = false;
};

/// What the allocator makes of one access, in a process of its own.
int seen(const Access& access) {
  use_first_device();
  CudaGuardAllocator allocator(0);
  allocator.begin_run(access.run);
  void* const out = allocator.allocate(16, nullptr);
  void* const before = allocator.allocate(access.bytes, nullptr);
  void* const block = allocator.allocate(access.bytes, nullptr);
  void* const behind = allocator.allocate(access.bytes, nullptr);
  if (!before || !block || !behind) return kOther;
  if (access.after_free) allocator.free(block, nullptr);
  poke(block, access.offset, access.write, out);
  allocator.queue_checks();
  const int code = wait_for_device();
  if (code == CUDA_ERROR_ILLEGAL_ADDRESS) return kFault;
  if (code != CUDA_SUCCESS) return kOther;
  return allocator.end_run() ? kDamage : kNothing;
}

std::vector<int> all_seen(const std::vector<Access>& accesses) {
  std::vector<std::function<int()>> bodies;
  for (const Access& access : accesses) bodies.push_back([access] { return seen(access); });
  return in_children(bodies);
}

void expect_all(const std::vector<Access>& accesses, int wanted, const char* what) {
  const std::vector<int> found = all_seen(accesses);
  size_t count = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    count += found[i] == wanted;
    EXPECT_EQ(found[i], wanted) << accesses[i].bytes << " bytes at " << accesses[i].offset
                                << (accesses[i].write ? " write" : " read");
  }
  std::printf("%s: %zu of %zu\n", what, count, accesses.size());
}

TEST(CudaGuardAllocator, StopsAllFortyAccessesPastTheEnd) {
  AOTIFUZZ_NEEDS_CUDA();
  std::vector<Access> accesses;
  for (size_t bytes : {size_t{400}, size_t{4000}, size_t{4} << 20, size_t{5'000'000}})
    for (long long past : {0LL, 16LL, 512LL, 4096LL, 2LL << 20})
      for (bool write : {false, true}) accesses.push_back({bytes, static_cast<long long>(bytes) + past, write});
  expect_all(accesses, kFault, "accesses past the end stopped");
}

TEST(CudaGuardAllocator, StopsAccessesBeforeTheStartInAStartRun) {
  AOTIFUZZ_NEEDS_CUDA();
  std::vector<Access> accesses;
  for (size_t bytes : {size_t{397}, size_t{4} << 20})
    for (long long offset : {-1LL, -16LL, -4096LL, -(2LL << 20)})
      for (bool write : {false, true}) accesses.push_back({bytes, offset, write, {.at_start = true}});
  expect_all(accesses, kFault, "accesses before the start stopped");
}

TEST(CudaGuardAllocator, StopsUsesAfterFree) {
  AOTIFUZZ_NEEDS_CUDA();
  std::vector<Access> accesses;
  for (size_t bytes : {size_t{400}, size_t{5'000'000}})
    for (long long offset : {0LL, 399LL})
      for (bool write : {false, true}) accesses.push_back({bytes, offset, write, {.protect_freed = true}, true});
  expect_all(accesses, kFault, "uses after free stopped");
}

TEST(CudaGuardAllocator, SeesAWriteOneElementPastAnUnalignedEnd) {
  AOTIFUZZ_NEEDS_CUDA();
  std::vector<Access> accesses;
  for (long long width : {1LL, 2LL, 4LL, 8LL}) {
    const size_t bytes = static_cast<size_t>(width) * 25;
    accesses.push_back({bytes, static_cast<long long>(bytes), true, {.canaries = true}});
    accesses.push_back({bytes, static_cast<long long>(bytes) + 16, true, {.canaries = true}});
  }
  const std::vector<int> found = all_seen(accesses);
  for (size_t i = 0; i < found.size(); i += 2) {
    EXPECT_EQ(found[i], kDamage) << accesses[i].bytes;
    EXPECT_EQ(found[i + 1], kFault) << "beyond the canary lies the guard";
  }
}

TEST(CudaGuardAllocator, LetsEveryByteOfABlockBeUsed) {
  AOTIFUZZ_NEEDS_CUDA();
  std::vector<Access> accesses;
  for (size_t bytes : {size_t{1}, size_t{397}, size_t{400}, size_t{2} << 20, size_t{5'000'001}})
    for (bool at_start : {false, true})
      for (long long offset : {0LL, static_cast<long long>(bytes) - 1})
        accesses.push_back({bytes, offset, true, {.at_start = at_start, .canaries = true}});
  expect_all(accesses, kNothing, "uses of a block's own bytes let pass");
}

TEST(CudaGuardAllocator, FreshMemoryHoldsThePatternAlsoWhenReused) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              use_first_device();
              CudaGuardAllocator allocator(0);
              for (int pattern : {0xA5, 0x5A}) {
                allocator.begin_run({.poison = static_cast<uint8_t>(pattern)});
                for (size_t bytes : {size_t{100}, size_t{6} << 20}) {
                  auto* block = static_cast<char*>(allocator.allocate(bytes, nullptr));
                  for (size_t at : {size_t{0}, bytes / 2, bytes - 1})
                    if (byte_at(block + at) != pattern) return 1;
                  poke(block, 0, true, nullptr);
                  allocator.free(block, nullptr);
                }
                if (wait_for_device() != CUDA_SUCCESS || allocator.end_run()) return 2;
              }
              return 0;
            }),
            0);
}

TEST(CudaGuardAllocator, ProtectedMemoryIsUsedAgainAfterTheRun) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              use_first_device();
              CudaGuardAllocator allocator(0);
              for (int run = 0; run < 50; ++run) {
                allocator.begin_run({.protect_freed = true});
                for (int i = 0; i < 4; ++i) {
                  void* block = allocator.allocate(1000, nullptr);
                  poke(block, 999, true, nullptr);
                  allocator.free(block, nullptr);
                }
                if (wait_for_device() != CUDA_SUCCESS || allocator.end_run()) return 1;
              }
              return allocator.bytes_held() <= size_t{64} << 20 ? 0 : 2;
            }),
            0);
}

TEST(CudaGuardAllocator, TenThousandBlocksOfUpToFourGibibytesKeepMemoryFlat) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              use_first_device();
              CudaGuardAllocator allocator(0);
              size_t free_before = 0, free_after = 0, all = 0;
              CudaDriver::get().memory_info(&free_before, &all);
              std::mt19937_64 random(1);
              std::uniform_real_distribution<double> exponent(0, 32);
              const size_t largest = std::min(size_t{4} << 30, free_before / 8);
              for (int i = 0; i < 10'000; ++i) {
                allocator.begin_run({});
                const auto bytes = static_cast<size_t>(std::exp2(exponent(random)));
                void* first = allocator.allocate(std::min(bytes, largest), nullptr);
                void* second = allocator.allocate(1 + bytes % 100'000, nullptr);
                allocator.free(first, nullptr);
                allocator.free(second, nullptr);
                if (wait_for_device() != CUDA_SUCCESS || allocator.end_run()) return 1;
              }
              CudaDriver::get().memory_info(&free_after, &all);
              std::printf("10,000 runs: %zu MiB kept of %zu MiB\n", (free_before - free_after) >> 20, all >> 20);
              return free_before - free_after <= all / 16 + (size_t{64} << 20) ? 0 : 2;
            }),
            0);
}

TEST(CudaGuardAllocator, WhatTheLimitRefusesIsOutOfMemory) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              use_first_device();
              CudaGuardAllocator allocator(0);
              allocator.limit(size_t{64} << 20);
              void* fits = allocator.allocate(size_t{32} << 20, nullptr);
              allocator.free(fits, nullptr);
              // What is kept makes room.
              if (!allocator.allocate(size_t{60} << 20, nullptr)) return 1;
              try {
                allocator.allocate(size_t{32} << 20, nullptr);
              } catch (const std::exception& error) {
                return std::string(error.what()).find("out of memory") == std::string::npos ? 2 : 0;
              }
              return 3;
            }),
            0);
}

}  // namespace
}  // namespace aotifuzz
