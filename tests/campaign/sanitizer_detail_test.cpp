#include "campaign/sanitizer_detail.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

std::vector<DeviceBuffer> one_input() {
  MemoryFault buffer;
  buffer.buffer_known = true;
  buffer.role = BufferRole::kInput;
  buffer.name = "idx";
  buffer.bytes = 16;
  return {{0x49841ffff0, true, buffer}};
}

SanitizerLog log_with(const std::string& what, const std::string& address) {
  SanitizerLog log;
  log.complete = true;
  log.errors.push_back(
      {what, "triton_poi_fused_0", "+0x160 in a.py:25", "thread (0,0,0) in block (1,0,0)", address, "", 3});
  return log;
}

TEST(SanitizerDetail, TheAddressIsPutBesideTheBuffers) {
  const auto log = log_with("Invalid __global__ read of size 8 bytes", "Access to 0x4984200000 is out of bounds");
  const auto fault = locate(log, one_input());
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_sentence(*fault), "reads the first byte past the end of input idx (16 bytes)");
  const auto measures = sanitizer_measures(log, fault);
  std::string text;
  for (const auto& [name, value] : measures) text += name + "=" + value + "\n";
  EXPECT_EQ(text,
            "access=read\nbuffer=input idx (16 bytes)\nbytes past the end=0\n"
            "compute-sanitizer=Invalid __global__ read of size 8 bytes in triton_poi_fused_0\n"
            "thread=thread (0,0,0) in block (1,0,0)\naddress=Access to 0x4984200000 is out of bounds\n"
            "line=+0x160 in a.py:25\n");
}

TEST(SanitizerDetail, WithoutAStrayAddressNoBufferIsNamed) {
  EXPECT_FALSE(locate({}, one_input()));
  EXPECT_FALSE(locate(log_with("Barrier error detected", ""), one_input()));
  EXPECT_FALSE(locate(log_with("Invalid __global__ read of size 8 bytes", "no number"), one_input()));
  SanitizerLog clean;
  clean.complete = true;
  EXPECT_EQ(sanitizer_measures(clean, std::nullopt).front().second, "no errors");
}

TEST(SanitizerDetail, AReasonThatNamesNoBufferGetsOne) {
  const auto fault = locate(
      log_with("Invalid __global__ write of size 4 bytes", "Address 0x4984200010 is out of bounds"), one_input());
  ASSERT_TRUE(fault);
  EXPECT_EQ(
      located_reason("the package touches device memory that is not its own (illegal memory access), in launch 1: k",
                     *fault),
      "the package writes 16 bytes past the end of input idx (16 bytes), in launch 1: k");
  EXPECT_EQ(located_reason("something else", *fault), "something else");
}

TEST(SanitizerDetail, MeasuresOfTheSameNameAreReplaced) {
  std::vector<std::pair<std::string, std::string>> measures = {{"kernel", "k"}, {"thread", "old"}};
  merge_measures(&measures, {{"thread", "new"}, {"line", "25"}});
  EXPECT_EQ(measures,
            (std::vector<std::pair<std::string, std::string>>{{"kernel", "k"}, {"thread", "new"}, {"line", "25"}}));
}

}  // namespace
}  // namespace aotifuzz
