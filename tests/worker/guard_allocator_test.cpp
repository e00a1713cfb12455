#include "worker/guard_allocator.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

namespace aotifuzz {
namespace {

/// Each test runs in a process of its own: the allocator cannot be taken out again.
template <class Body>
void in_own_process(Body body) {
  EXPECT_EXIT(
      {
        body(GuardAllocator::install());
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

char read_at(const volatile char* p) { return *p; }

TEST(GuardAllocatorDeathTest, TheByteAfterATensorIsASegfaultForReadsAndWrites) {
  for (int64_t n : {1, 3, 63, 1000, 1024, 4096, 100'000}) {
    EXPECT_EXIT(
        {
          GuardAllocator::install();
          const at::Tensor t = at::zeros({n}, at::kFloat);
          read_at(static_cast<const char*>(t.const_data_ptr()) + t.nbytes());
          std::exit(0);
        },
        ::testing::KilledBySignal(SIGSEGV), "")
        << n;
  }
  EXPECT_EXIT(
      {
        GuardAllocator::install();
        at::Tensor t = at::zeros({3}, at::kChar);
        static_cast<volatile char*>(t.mutable_data_ptr())[3] = 1;
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(GuardAllocator, AllBytesOfABlockAreUsable) {
  in_own_process([](GuardAllocator& allocator) {
    for (size_t bytes : {1, 4095, 4096, 4097, 3 << 20}) {
      c10::DataPtr block = allocator.allocate(bytes);
      std::memset(block.get(), 7, bytes);
      EXPECT_EQ(static_cast<char*>(block.get())[bytes - 1], 7);
    }
  });
}

TEST(GuardAllocator, FreshMemoryHoldsThePatternAlsoWhenReused) {
  in_own_process([](GuardAllocator& allocator) {
    for (int pattern : {0xA5, 0x5A}) {
      allocator.set_poison(static_cast<uint8_t>(pattern));
      const at::Tensor t = at::empty({100}, at::kByte);
      EXPECT_TRUE(t.eq(pattern).all().item<bool>());
    }
    const at::Tensor large = at::empty({5 << 20}, at::kByte);
    EXPECT_EQ(large[0].item<uint8_t>(), 0x5A);
    EXPECT_EQ(large[-1].item<uint8_t>(), 0x5A);
  });
}

TEST(GuardAllocator, SlotsAreReused) {
  in_own_process([](GuardAllocator& allocator) {
    const void* first = allocator.allocate(100).get();
    EXPECT_EQ(allocator.allocate(100).get(), first);
  });
}

TEST(GuardAllocator, AlignmentMovesTheStart) {
  in_own_process([](GuardAllocator& allocator) {
    allocator.set_alignment(64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(allocator.allocate(100).get()) % 64, 0u);
    allocator.set_alignment(1);
    EXPECT_EQ((reinterpret_cast<uintptr_t>(allocator.allocate(100).get()) + 100) % GuardAllocator::kPage, 0u);
  });
}

TEST(GuardAllocator, GuardsAreLimitedAndTheRestIsCounted) {
  in_own_process([](GuardAllocator& allocator) {
    std::vector<c10::DataPtr> blocks;
    for (size_t i = 0; i < GuardAllocator::kSlotsMax + 10; ++i) blocks.push_back(allocator.allocate(8));
    EXPECT_EQ(allocator.unguarded(), 10u);
    blocks.clear();
    EXPECT_EQ(allocator.unguarded(), 10u);
    EXPECT_NE(allocator.allocate(8).get(), nullptr);
    EXPECT_EQ(allocator.unguarded(), 10u) << "freed slots are guarded again";
  });
}

TEST(GuardAllocator, WhatTheSystemRefusesIsBadAlloc) {
  in_own_process([](GuardAllocator& allocator) { EXPECT_THROW(allocator.allocate(size_t{1} << 62), std::bad_alloc); });
}

TEST(GuardAllocator, EagerOpsGiveTheSameResultsAtExactEnds) {
  in_own_process([](GuardAllocator& allocator) {
    const auto run = [] {
      at::manual_seed(0);
      const at::Tensor a = at::randn({7, 5}), b = at::randn({5, 3});
      return std::vector<at::Tensor>{a.mm(b), std::get<0>(a.sort(0)), a.softmax(1), at::fft_rfft(a).abs(),
                                     at::conv1d(a.unsqueeze(0), at::randn({2, 7, 3}))};
    };
    allocator.set_alignment(64);
    const auto aligned = run();
    allocator.set_alignment(1);
    const auto exact = run();
    for (size_t i = 0; i < exact.size(); ++i) EXPECT_TRUE(at::allclose(aligned[i], exact[i], 1e-6, 1e-6)) << i;
  });
}

}  // namespace
}  // namespace aotifuzz
