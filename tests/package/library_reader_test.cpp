#include "package/library_reader.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "core/error.h"
#include "package/shared_library.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

/// A shared library that is certainly there: the C++ run time of this program.
std::string some_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&std::terminate), &info);
  std::ifstream in(info.dli_fname, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string refusal(const std::string& bytes) {
  const TemporaryFile file("model.so");
  std::ofstream(file.path(), std::ios::binary) << bytes;
  std::vector<std::string> missing;
  try {
    read_library(file.path(), missing);
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "read";
}

TEST(SharedLibrary, SaysWhatALibraryOffersAndNeeds) {
  const auto library = parse_shared_library(some_library());
  ASSERT_TRUE(library) << library.error().what;
  EXPECT_TRUE(library->defined.contains("_ZSt9terminatev"));
  EXPECT_TRUE(library->wanted.contains("malloc"));
  EXPECT_TRUE(library->needed.contains("libc.so.6"));
}

TEST(SharedLibrary, EveryCutIsAnErrorOrALibrary) {
  const std::string bytes = some_library();
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 3) {
    const auto library = parse_shared_library(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(library) << length;
  }
}

TEST(LibraryReader, OtherLibrariesAreNoModels) {
  EXPECT_THAT(refusal(some_library()), HasSubstr("holds no model"));
  EXPECT_THAT(refusal(some_library()), HasSubstr("--ops"));
}

TEST(LibraryReader, DamageAndOtherMachinesAreSaid) {
  std::string bytes = some_library();
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() / 2)), HasSubstr("cut off"));
  EXPECT_THAT(refusal(bytes.substr(0, 40)), HasSubstr("cut off"));
  std::string other = bytes;
  const uint16_t machine = EM_S390, program = ET_EXEC;
  std::memcpy(other.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  EXPECT_THAT(refusal(other), HasSubstr("built for s390x"));
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_type), &program, sizeof(program));
  EXPECT_THAT(refusal(bytes), HasSubstr("no shared library"));
}

TEST(LibraryReader, OnlyElfFilesAreLibraries) {
  const TemporaryFile file("x");
  EXPECT_FALSE(is_library_file(file.path()));
  std::ofstream(file.path()) << "PK\3\4";
  EXPECT_FALSE(is_library_file(file.path()));
  std::ofstream(file.path(), std::ios::trunc) << ELFMAG << "rest";
  EXPECT_TRUE(is_library_file(file.path()));
}

}  // namespace
}  // namespace aotifuzz
