#include "worker/stderr_capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

namespace aotifuzz {
namespace {

/// Puts the real stderr back afterwards.
class StderrCaptureTest : public ::testing::Test {
 protected:
  StderrCaptureTest() : saved_(dup(STDERR_FILENO)) {}
  ~StderrCaptureTest() override {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  int saved_;
};

TEST_F(StderrCaptureTest, TakesWhatWasWrittenSinceTheMark) {
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDERR_FILENO);
  StderrCapture capture = StderrCapture::install();
  std::cerr << "before\n";
  capture.mark();
  std::cerr << "Error: the cause\n";
  EXPECT_EQ(capture.take(), "Error: the cause\n");
  capture.mark();
  EXPECT_EQ(capture.take(), "");
}

TEST_F(StderrCaptureTest, AChattyPackageDoesNotFillTheMemory) {
  dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
  StderrCapture capture = StderrCapture::install();
  const std::string chatter(StderrCapture::kLarge / 2 + 1, 'x');
  for (int i = 0; i < 100; ++i) {
    capture.mark();
    std::cerr << chatter << std::flush;
  }
  struct stat status {};
  fstat(STDERR_FILENO, &status);
  EXPECT_LT(status.st_size, 3 * StderrCapture::kLarge);
  capture.mark();
  std::cerr << "Error: still heard" << std::flush;
  EXPECT_EQ(capture.take(), "Error: still heard");
}

TEST_F(StderrCaptureTest, AReadableLogOfTheParentStaysInPlace) {
  const int log = memfd_create("log", 0);
  ASSERT_GE(log, 0);
  fcntl(log, F_SETFL, O_APPEND);
  dup2(log, STDERR_FILENO);
  StderrCapture capture = StderrCapture::install();
  std::cerr << "kept ";
  capture.mark();
  std::cerr << "Error: cause" << std::flush;
  EXPECT_EQ(capture.take(), "Error: cause");
  char text[64] = {};
  EXPECT_GT(pread(log, text, sizeof(text), 0), 0);
  EXPECT_STREQ(text, "kept Error: cause") << "the parent still finds everything";
}

}  // namespace
}  // namespace aotifuzz
