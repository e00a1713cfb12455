// On a real package: one that tests/run.sh packs (folder in AOTIFUZZ_MODELS).
#include "worker/guarded_constants.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "tests/support/memory_trap.h"

namespace aotifuzz {
namespace {

using test::in_guarded_process;
using test::touch;
using test::Trap;
using torch::inductor::AOTIModelPackageLoader;

class GuardedConstantsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* models = std::getenv("AOTIFUZZ_MODELS");
    if (!models) GTEST_SKIP() << "AOTIFUZZ_MODELS is not set: run tests/run.sh, which packs the models";
    package_ = std::string(models) + "/example.embedding_mlp.pt2";
  }
  /// Moves the constants of a package loaded in a process of its own, then body(runner, constants).
  template <class Body>
  Trap with_constants(const GuardedConstants::Writable& writable, Body body) {
    return in_guarded_process({}, [&](GuardAllocator&, FlightRecorder&) {
      at::set_num_threads(1);
      c10::InferenceMode no_autograd;
      AOTIModelPackageLoader loader(package_, "model");
      GuardedConstants constants(*loader.get_runner(), writable);
      body(*loader.get_runner(), constants);
    });
  }
  std::string package_;
};

const GuardedConstants::Writable kAllReadOnly{.none_read_only = false, .fqns = {}};

std::vector<at::Tensor> inputs() { return {at::ones({2, 3, 16}), at::ones({2, 3}, at::kLong)}; }

TEST_F(GuardedConstantsTest, AllAreMovedAndResultsStay) {
  const Trap trap = in_guarded_process({}, [&](GuardAllocator&, FlightRecorder&) {
    at::set_num_threads(1);
    c10::InferenceMode no_autograd;
    AOTIModelPackageLoader loader(package_, "model");
    const std::vector<at::Tensor> before = loader.run(inputs());
    GuardedConstants constants(*loader.get_runner(), kAllReadOnly);
    const std::vector<at::Tensor> after = loader.run(inputs());
    const bool equal = before.size() == after.size() && at::equal(before[0], after[0]);
    _exit(constants.moved() > 3 && constants.left() == 0 && equal ? 0 : 1);
  });
  EXPECT_EQ(trap.signal, 0);
  EXPECT_EQ(trap.status, 0);
}

TEST_F(GuardedConstantsTest, AWriteToOneAndAReadFarPastOneTrap) {
  for (const bool write : {true, false}) {
    const Trap trap = with_constants(kAllReadOnly, [&](auto& runner, GuardedConstants&) {
      const auto constants = runner.extract_constants_map(false);
      const at::Tensor& one = constants.begin()->second;
      touch(static_cast<const char*>(one.const_data_ptr()) + (write ? 0 : one.nbytes() + 64), write);
    });
    ASSERT_TRUE(trap.fault);
    EXPECT_EQ(trap.fault->role, BufferRole::kConstant);
    EXPECT_FALSE(trap.fault->name.empty());
    EXPECT_EQ(trap.fault->place, write ? MemoryFault::Place::kReadOnly : MemoryFault::Place::kPastEnd);
  }
}

TEST_F(GuardedConstantsTest, WhatTheProgramMayWriteCanBeWrittenAndReset) {
  const Trap trap = with_constants({}, [&](auto& runner, GuardedConstants& guarded) {
    auto constants = runner.extract_constants_map(false);
    at::Tensor one = constants.begin()->second;
    const at::Tensor value = one.clone();
    one.fill_(5);
    const bool known = guarded.reset(constants.begin()->first, value);
    _exit(known && one.equal(value) && !guarded.reset("no.such.constant", value) ? 0 : 1);
  });
  EXPECT_EQ(trap.signal, 0);
  EXPECT_EQ(trap.status, 0);
}

}  // namespace
}  // namespace aotifuzz
