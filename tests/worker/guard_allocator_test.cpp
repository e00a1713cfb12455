#include "worker/guard_allocator.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/memory_trap.h"

namespace aotifuzz {
namespace {

using test::in_guarded_process;
using test::touch;
using test::Trap;
using Access = MemoryFault::Access;
using Place = MemoryFault::Place;

constexpr GuardRun kEnd{.stage = Stage::kSubject}, kStart{.stage = Stage::kSubjectAgain, .at_start = true};

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
      allocator.begin_run({.poison = static_cast<uint8_t>(pattern)});
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

/// The matrix of sizes and distances on which allocators were compared first: 40 accesses, each in a process of its
/// own.
constexpr size_t kSizes[] = {400, 4000, size_t{4} << 20, 5'000'000};
constexpr size_t kDistances[] = {0, 16, 512, 4096, size_t{2} << 20};

TEST(GuardAllocator, StopsAllFortyAccessesOfTheMatrixAndNamesBufferAndDistance) {
  for (const size_t bytes : kSizes)
    for (const size_t past : kDistances)
      for (const bool write : {false, true}) {
        const Trap trap = in_guarded_process(kEnd, [&](GuardAllocator& allocator, FlightRecorder&) {
          const at::Tensor t = at::empty({static_cast<int64_t>(bytes)}, at::kByte);
          allocator.label(t.const_data_ptr(), BufferRole::kInput, "x");
          touch(static_cast<const char*>(t.const_data_ptr()) + bytes + past, write);
        });
        EXPECT_EQ(trap.signal, SIGSEGV) << bytes << " + " << past;
        ASSERT_TRUE(trap.fault) << bytes << " + " << past;
        EXPECT_EQ(trap.fault->place, Place::kPastEnd);
        EXPECT_EQ(trap.fault->distance, past);
        EXPECT_EQ(trap.fault->bytes, bytes);
        EXPECT_EQ(trap.fault->name, "x");
        EXPECT_EQ(trap.fault->access, write ? Access::kWrite : Access::kRead);
      }
}

TEST(GuardAllocator, TorchsOwnAllocatorMissesMostOfTheMatrix) {
  int noticed = 0;
  for (const size_t bytes : kSizes)
    for (const size_t past : kDistances)
      for (const bool write : {false, true}) {
        const pid_t pid = fork();
        if (pid == 0) {
          const rlimit none{0, 0};
          setrlimit(RLIMIT_CORE, &none);
          const at::Tensor t = at::empty({static_cast<int64_t>(bytes)}, at::kByte);
          touch(static_cast<const char*>(t.const_data_ptr()) + bytes + past, write);
          _exit(0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        noticed += WIFSIGNALED(status);
      }
  RecordProperty("noticed", noticed);
  EXPECT_LT(noticed, 40) << "then the guard would be of no use";
}

TEST(GuardAllocator, StopsUnderrunsInRunsAtTheStart) {
  for (const size_t bytes : kSizes)
    for (const size_t before : {1, 16, 512, 4096, 2 << 20})
      for (const bool write : {false, true}) {
        const Trap trap = in_guarded_process(kStart, [&](GuardAllocator&, FlightRecorder&) {
          const at::Tensor t = at::empty({static_cast<int64_t>(bytes)}, at::kByte);
          touch(static_cast<const char*>(t.const_data_ptr()) - before, write);
        });
        ASSERT_TRUE(trap.fault) << bytes << " - " << before;
        EXPECT_EQ(trap.fault->place, Place::kBeforeStart);
        EXPECT_EQ(trap.fault->distance, before);
        EXPECT_EQ(trap.fault->access, write ? Access::kWrite : Access::kRead);
      }
}

TEST(GuardAllocator, StopsTheElementAfterTheLastOneInEachDtype) {
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kBool, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat,
        at::kDouble, at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2})
    for (const int64_t n : {1, 3, 17, 1000}) {
      const Trap trap = in_guarded_process(kEnd, [&](GuardAllocator&, FlightRecorder&) {
        const at::Tensor t = at::empty({n}, type);
        touch(static_cast<const char*>(t.const_data_ptr()) + n * t.itemsize(), false);
      });
      ASSERT_TRUE(trap.fault) << type << " " << n;
      EXPECT_EQ(trap.fault->distance, 0u);
    }
}

TEST(GuardAllocator, AUseAfterFreeTrapsWhereWhatIsFreedBecomesInaccessible) {
  for (const bool write : {false, true}) {
    GuardRun run = kStart;
    run.freed = FreedMemory::kInaccessible;
    const Trap trap = in_guarded_process(run, [&](GuardAllocator&, FlightRecorder& recorder) {
      std::strcpy(recorder.kernels[0], "cpp_first");
      std::strcpy(recorder.kernels[1], "cpp_second");
      recorder.call_kernels[1] = 1;
      at::Tensor t = at::empty({10}, at::kFloat);
      recorder.calls = 1;
      const void* stale = t.const_data_ptr();
      t = at::Tensor();
      recorder.calls = 2;
      recorder.call_running = 1;
      touch(static_cast<const char*>(stale) + 8, write);
    });
    ASSERT_TRUE(trap.fault);
    EXPECT_EQ(trap.fault->place, Place::kAfterFree);
    EXPECT_EQ(trap.fault->distance, 8u);
    EXPECT_EQ(trap.fault->access, write ? Access::kWrite : Access::kRead);
    EXPECT_EQ(trap.fault->allocated, "before the first kernel call");
    EXPECT_EQ(trap.fault->freed, "after kernel call 1 (cpp_first)");
    EXPECT_EQ(trap.fault->kernel, "cpp_second");
    EXPECT_EQ(trap.fault->call, 2);
  }
}

TEST(GuardAllocator, AWriteAfterFreeIsDamageWhereWhatIsFreedIsFilled) {
  in_own_process([](GuardAllocator& allocator) {
    GuardRun run = kStart;
    run.freed = FreedMemory::kFilled;
    allocator.begin_run(run);
    at::Tensor t = at::zeros({10}, at::kFloat);
    void* stale = t.mutable_data_ptr();
    t = at::Tensor();
    EXPECT_NE(at::empty({10}, at::kFloat).const_data_ptr(), stale) << "not used again";
    EXPECT_EQ(static_cast<uint8_t*>(stale)[39], run.poison) << "a stale read is garbage";
    touch(static_cast<char*>(stale) + 12, true);
    const std::vector<MemoryFault> damage = allocator.end_run();
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].place, Place::kAfterFree);
    EXPECT_EQ(damage[0].distance, 12u);
    allocator.begin_run(kEnd);
    EXPECT_EQ(at::empty({10}, at::kFloat).numel(), 10);
  });
}

TEST(GuardAllocator, WritesIntoTheSlackAreDamageWithBufferAndDistance) {
  in_own_process([](GuardAllocator& allocator) {
    allocator.begin_run(kEnd);
    at::Tensor live = at::zeros({10}, at::kFloat), freed = at::zeros({20}, at::kFloat);
    allocator.label(live.const_data_ptr(), BufferRole::kInput, "x");
    touch(static_cast<char*>(live.mutable_data_ptr()) - 5, true);
    touch(static_cast<char*>(freed.mutable_data_ptr()) - 1, true);
    freed = at::Tensor();
    std::vector<MemoryFault> damage = allocator.end_run();
    ASSERT_EQ(damage.size(), 2u);
    EXPECT_EQ(memory_fault_key(damage[0]), "write before start of intermediate");
    EXPECT_EQ(damage[0].bytes, 80u);
    EXPECT_EQ(memory_fault_key(damage[1]), "write before start of input x");
    EXPECT_EQ(damage[1].distance, 5u);

    allocator.begin_run(kStart);
    at::Tensor start = at::zeros({10}, at::kFloat);
    touch(static_cast<char*>(start.mutable_data_ptr()) + 40 + 7, true);
    damage = allocator.end_run();
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].place, Place::kPastEnd);
    EXPECT_EQ(damage[0].distance, 7u);
  });
}

TEST(GuardAllocator, OrdinaryUseIsNoDamage) {
  for (const GuardRun& layout : {kEnd, kStart})
    for (const FreedMemory freed : {FreedMemory::kReused, FreedMemory::kFilled, FreedMemory::kInaccessible})
      in_own_process([&](GuardAllocator& allocator) {
        for (int i = 0; i < 3; ++i) {
          GuardRun run = layout;
          run.freed = freed;
          allocator.begin_run(run);
          std::vector<at::Tensor> kept;
          for (int64_t n : {1, 17, 1024, 5000, 300'000, 2'000'000}) {
            at::Tensor t = at::ones({n}, at::kFloat);
            kept.push_back((t + 1).mul_(2));
          }
          EXPECT_TRUE(allocator.end_run().empty());
          for (const at::Tensor& t : kept) EXPECT_EQ(t[-1].item<float>(), 4);
        }
      });
}

TEST(GuardAllocator, AWriteToReadOnlyMemoryTrapsAndReadsGoOn) {
  const Trap trap = in_guarded_process(kEnd, [](GuardAllocator& allocator, FlightRecorder&) {
    at::Tensor t = at::ones({100}, at::kFloat);
    allocator.label(t.const_data_ptr(), BufferRole::kConstant, "layer.weight");
    allocator.make_read_only(t.const_data_ptr());
    if (t.sum().item<float>() != 100) _exit(1);
    touch(static_cast<char*>(t.mutable_data_ptr()) + 4, true);
  });
  ASSERT_TRUE(trap.fault);
  EXPECT_EQ(memory_fault_key(*trap.fault), "write to constant layer.weight");
  EXPECT_EQ(trap.fault->distance, 4u);
}

TEST(GuardAllocator, ABufferThatTheKernelWasGivenExplainsAStrayAccessBetterThanItsNeighbour) {
  for (const int given : {0, 1}) {
    const Trap trap = in_guarded_process(kEnd, [&](GuardAllocator& allocator, FlightRecorder& recorder) {
      const at::Tensor t[] = {at::empty({10}, at::kByte), at::empty({10}, at::kByte)};
      allocator.label(t[0].const_data_ptr(), BufferRole::kInput, "first");
      allocator.label(t[1].const_data_ptr(), BufferRole::kInput, "second");
      recorder.calls = 1;
      recorder.call_running = 1;
      recorder.call_words[3] = reinterpret_cast<uint64_t>(t[given].const_data_ptr());
      // Just past the first one: near it, and megabytes before the second.
      touch(static_cast<const char*>(t[0].const_data_ptr()) + 4096, false);
    });
    ASSERT_TRUE(trap.fault);
    EXPECT_EQ(trap.fault->name, given == 0 ? "first" : "second");
    EXPECT_EQ(trap.fault->place, given == 0 ? Place::kPastEnd : Place::kBeforeStart);
  }
}

TEST(GuardAllocator, AnAddressElsewhereIsNoMemoryFault) {
  const Trap trap = in_guarded_process(kEnd, [](GuardAllocator&, FlightRecorder&) {
    touch(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), false);
  });
  EXPECT_EQ(trap.signal, SIGSEGV);
  EXPECT_FALSE(trap.fault);
}

TEST(GuardAllocator, GrowthIsLimitedAndKeptMemoryIsGivenBackFirst) {
  in_own_process([](GuardAllocator& allocator) {
    allocator.limit_growth(size_t{64} << 20);
    { const c10::DataPtr kept = allocator.allocate(size_t{40} << 20); }
    EXPECT_NO_THROW(allocator.allocate(size_t{50} << 20));
    const c10::DataPtr live = allocator.allocate(size_t{40} << 20);
    EXPECT_THROW(allocator.allocate(size_t{50} << 20), std::bad_alloc);
  });
}

}  // namespace
}  // namespace aotifuzz
