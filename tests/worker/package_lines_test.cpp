#include "worker/package_lines.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>

extern "C" int aotifuzz_lined_kernel();

namespace aotifuzz {
namespace {

struct Library {
  std::string path;
  uint64_t base = 0, address = 0;
};

Library library_of(const void* function) {
  Dl_info info{};
  dladdr(function, &info);
  return {info.dli_fname, reinterpret_cast<uint64_t>(info.dli_fbase), reinterpret_cast<uint64_t>(function)};
}

TEST(PackageLines, NamesTheLineOfTheGeneratedFileWithoutItsHash) {
  const Library library = library_of(reinterpret_cast<const void*>(&aotifuzz_lined_kernel));
  PackageLines lines;
  lines.add(library.path, library.base, library.base, library.base + (1 << 20));
  EXPECT_EQ(lines.line_of(library.address), "") << "nobody has asked yet";
  lines.resolve({library.address, library.base + (2 << 20), 1});
  EXPECT_EQ(lines.line_of(library.address), "kernel.cpp:" + std::to_string(aotifuzz_lined_kernel()));
  EXPECT_EQ(lines.line_of(library.base + (2 << 20)), "") << "in no package";
}

TEST(PackageLines, ALibraryWithoutALineTableAndAFileThatIsNoneSayNothing) {
  const Library library = library_of(reinterpret_cast<const void*>(&dladdr));
  PackageLines lines;
  lines.add(library.path, library.base, library.base, library.base + (1 << 20));
  lines.add("/dev/null", 0, 0, UINT64_MAX);
  lines.add("/no/such/file", 0, 0, UINT64_MAX);
  lines.resolve({library.address});
  EXPECT_EQ(lines.line_of(library.address), "");
}

}  // namespace
}  // namespace aotifuzz
