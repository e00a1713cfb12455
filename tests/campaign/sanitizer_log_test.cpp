#include "campaign/sanitizer_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

constexpr const char* kReads = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at triton_poi_fused_add_0+0x1a0 in cabc.py:25
=========     by thread (96,0,0) in block (0,0,0)
=========     Address 0x7f2a1ba00190 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2a1ba00000 of size 400 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: launchKernel [0x1234] in model.so
========= 
========= Invalid __global__ read of size 4 bytes
=========     at triton_poi_fused_add_0+0x1a0 in cabc.py:25
=========     by thread (97,0,0) in block (0,0,0)
=========     Address 0x7f2a1ba00194 is out of bounds
========= 
========= ERROR SUMMARY: 2 errors
)";

TEST(SanitizerLog, NamesKernelPlaceThreadAndAllocation) {
  const SanitizerLog log = parse_sanitizer_log(kReads);
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.total, 2u);
  ASSERT_EQ(log.errors.size(), 1u) << "the same place by another thread is the same error";
  const SanitizerError& error = log.errors[0];
  EXPECT_EQ(error.what, "Invalid __global__ read of size 4 bytes");
  EXPECT_EQ(error.kernel, "triton_poi_fused_add_0");
  EXPECT_EQ(error.place, "+0x1a0 in cabc.py:25");
  EXPECT_EQ(error.thread, "thread (96,0,0) in block (0,0,0)");
  EXPECT_EQ(error.times, 2u);
  EXPECT_THAT(error.nearest, HasSubstr("1 bytes after the nearest allocation"));
  EXPECT_THAT(describe(error), HasSubstr("in triton_poi_fused_add_0+0x1a0 in cabc.py:25"));
}

TEST(SanitizerLog, ReadsTheOlderPlaceAndArguments) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= Invalid __global__ write of size 1 bytes\n=========     at 0x90 in touch\n"
      "========= Invalid __shared__ read of size 8 bytes\n=========     at void f<int>(int *, long)+0x20\n");
  ASSERT_EQ(log.errors.size(), 2u);
  EXPECT_EQ(log.errors[0].kernel, "touch");
  EXPECT_EQ(log.errors[0].place, "0x90");
  EXPECT_EQ(log.errors[1].kernel, "void f<int>");
  EXPECT_EQ(log.errors[1].place, "+0x20");
  EXPECT_FALSE(log.complete) << "no summary: the tool did not end";
}

// As compute-sanitizer 2025.3.1 writes it.
TEST(SanitizerLog, ReadsWhatTheToolOfCuda13Writes) {
  const SanitizerLog log = parse_sanitizer_log(R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 1 bytes
=========     at rd(const char *, unsigned long, char *)+0x80
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f5de8800190 is out of bounds
=========     and is 14,977 bytes after the nearest allocation at 0x7f5de8800000 of size 2,097,152 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0x8d27] in oob
========= 
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
========= 
========= ERROR SUMMARY: 2 errors
)");
  ASSERT_EQ(log.errors.size(), 1u) << "what the program saw of it is no error of its own";
  EXPECT_EQ(log.errors[0].kernel, "rd");
  EXPECT_EQ(log.errors[0].address, "Access to 0x7f5de8800190 is out of bounds");
  EXPECT_THAT(log.errors[0].nearest, HasSubstr("14,977 bytes after"));
  EXPECT_TRUE(parse_sanitizer_log("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)").complete);
}

TEST(SanitizerLog, ACleanRunIsCompleteAndHasNoErrors) {
  const SanitizerLog log = parse_sanitizer_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_TRUE(log.errors.empty());
}

TEST(SanitizerLog, AnyTextIsRead) {
  for (const char* text :
       {"", "=========", "=========\n=========", "no log", "========= at +0x", "========= Invalid x\n========= at ",
        "========= ERROR SUMMARY: 99999999999999999999999 errors"})
    parse_sanitizer_log(text);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "========= Invalid read " + std::to_string(i) + "\n";
  EXPECT_EQ(parse_sanitizer_log(many).errors.size(), 1000u);
}

}  // namespace
}  // namespace aotifuzz
