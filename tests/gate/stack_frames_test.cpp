#include "gate/stack_frames.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" int64_t aotifuzz_test_row_count(int64_t rows);  // of a library of its own

namespace aotifuzz {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

uint64_t address_in_library() { return reinterpret_cast<uint64_t>(&aotifuzz_test_row_count); }

TEST(StackFrames, AReturnAddressIsTheCallBeforeIt) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(address_in_library()), &info), 0);
  const uint64_t base = reinterpret_cast<uint64_t>(info.dli_fbase);
  const auto frames = frames_in_libraries({address_in_library() + 5}, /*first_is_exact=*/false);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_THAT(frames[0].library, EndsWith("libgate_row_counter.so"));
  EXPECT_EQ(frames[0].offset, address_in_library() + 4 - base);
  EXPECT_EQ(frames[0].symbol, "aotifuzz_test_row_count");
}

TEST(StackFrames, TheAddressOfAFaultIsTheInstructionItself) {
  const auto frames = frames_in_libraries({address_in_library() + 5, address_in_library() + 5}, true);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].offset, frames[1].offset + 1) << "only the innermost one";
}

TEST(StackFrames, WhatIsNotTheUsersIsLeftOut) {
  void* const torch = dlsym(RTLD_DEFAULT, "_ZN3c105ErrorD1Ev");
  const std::vector<void*> addresses = {reinterpret_cast<void*>(&address_in_library), torch,
                                        dlsym(RTLD_DEFAULT, "qsort"), reinterpret_cast<void*>(1),
                                        reinterpret_cast<void*>(address_in_library() + 5)};
  const auto frames = frames_in_libraries(addresses);
  ASSERT_EQ(frames.size(), 1u) << "this program, torch, libc, nowhere";
  EXPECT_THAT(frames[0].library, HasSubstr("row_counter"));
}

}  // namespace
}  // namespace aotifuzz
