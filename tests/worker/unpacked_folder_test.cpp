#include "worker/unpacked_folder.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(UnpackedFolder, IsTheOneThatTheLoaderMade) {
  EXPECT_EQ(unpacked_folder_of("/tmp/eSlM09/labeq/data/aotinductor/model/c25.wrapper.so"), "/tmp/eSlM09");
  EXPECT_EQ(unpacked_folder_of("/tmp/aotinductor_0HOz95/m/data/aotinductor/model/c25.wrapper.so"),
            "/tmp/aotinductor_0HOz95");
  EXPECT_EQ(unpacked_folder_of("/var/t m/aotinductor_0HOz95/m/data/aotinductor/model/c25.wrapper.so"),
            "/var/t m/aotinductor_0HOz95");
}

TEST(UnpackedFolder, AnythingElseIsLeftAlone) {
  for (const char* path :
       {"/tmp/eSlM09x/labeq/data/aotinductor/model/a.so", "/tmp/eSl.09/labeq/data/aotinductor/model/a.so",
        "/home/u/m/data/aotinductor/model/a.so", "/tmp/mymods/data/aotinductor/model/a.so",
        "/tmp/mymods/a/b/data/aotinductor/model/a.so", "/tmp/aotinductor_0HOz9/m/data/aotinductor/model/a.so",
        "/tmp/aotinductor_models/data/aotinductor/m/a.so", "/tmp/my_aotinductor_0HOz95/m/data/aotinductor/model/a.so",
        "/tmp/eSlM09/libfoo.so", "/tmp/eSlM09", ""})
    EXPECT_EQ(unpacked_folder_of(path), "") << path;
}

}  // namespace
}  // namespace aotifuzz
