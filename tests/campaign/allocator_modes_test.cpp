#include "campaign/allocator_modes.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "core/error.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;

std::string shown(const CaseResult& result) {
  const Contract contract = tied_contract();
  FakeExecutor plain([&](const Case&) { return result; });
  const std::string text = shows_without_guard({contract}, plain, tied_case(2, 3));
  EXPECT_EQ(plain.renewals, 1) << "an earlier case may have damaged the process";
  return text;
}

TEST(AllocatorModes, WhatPassesWithoutTheGuardIsNotNoticed) { EXPECT_EQ(shown(reported({passed()})), "not noticed"); }

TEST(AllocatorModes, WhatFailsOtherwiseIsNamed) {
  EXPECT_EQ(shown(died(SIGSEGV)), "crash SIGSEGV in subject");
  EXPECT_EQ(shown(reported({passed(), failed("wrong-result output 0")})), "wrong-result output 0");
}

TEST(AllocatorModes, ARunThatSaysNothingIsNoSilence) {
  CaseResult result = died(SIGKILL);
  result.death->kind = WorkerDeath::Kind::kOutOfMemory;
  EXPECT_EQ(shown(result), "not judged: out of memory");
}

TEST(AllocatorModes, AWorkerThatCannotStartEndsNoCampaign) {
  const Contract contract;
  FakeExecutor plain([](const Case&) -> CaseResult {
    throw HarnessError("the device cannot be used: out of memory", "cuda:0", "free it");
  });
  EXPECT_EQ(shows_without_guard({contract}, plain, tied_case(2, 3)),
            "not judged: the device cannot be used: out of memory");
}

}  // namespace
}  // namespace aotifuzz
