#include "worker/error_text.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(ErrorText, KeepsTheFirstLineThatSaysSomething) {
  EXPECT_EQ(clean_error("\n  \nindex out of range in self\nframe #0: foo\n"), "index out of range in self");
  EXPECT_EQ(clean_error(""), "");
}

TEST(ErrorText, DropsPrefixesAndPlaces) {
  EXPECT_EQ(clean_error("Error: index out of bounds: 0 <= tmp7 < 10L"), "index out of bounds: 0 <= tmp7 < 10L");
  EXPECT_EQ(clean_error("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory"),
            "[enforce fail ] err == 0. DefaultCPUAllocator: can't allocate memory");
  EXPECT_EQ(clean_error("run_func_(container) API call failed at ../torch/csrc/model_container_runner.cpp, line 145"),
            "run_func_(container) API call failed at ../torch/csrc/model_container_runner.cpp, line 145");
  EXPECT_EQ(clean_error("/a/b/kernel.cpp:12: index 3 is wrong"), "index 3 is wrong");
}

TEST(ErrorText, HidesAddresses) {
  EXPECT_EQ(clean_error("bad pointer 0x7f00aB12 in op 0x"), "bad pointer 0x... in op 0x");
}

TEST(ErrorText, NumbersWithColonsAreNotTakenForPlaces) {
  EXPECT_EQ(clean_error("expected 3:4 but x.size:5 came"), "expected 3:4 but x.size:5 came");
}

TEST(ErrorText, LongTextIsCutWithoutHalfACharacter) {
  const std::string cut = clean_error(std::string(299, 'a') + "\xC3\xA9 and more");
  EXPECT_EQ(cut, std::string(299, 'a'));
}

TEST(ErrorText, TellsLackOfMemoryFromRefusal) {
  EXPECT_TRUE(is_out_of_memory("DefaultCPUAllocator: can't allocate memory: you tried to allocate 80 bytes"));
  EXPECT_TRUE(is_out_of_memory("std::bad_alloc"));
  EXPECT_FALSE(is_out_of_memory("index out of range in self"));
}

}  // namespace
}  // namespace aotifuzz
