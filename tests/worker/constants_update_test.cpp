#include "worker/constants_update.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

/// Has one floating weight and one that is none; fails when told to.
class FakeSubject final : public Subject {
 public:
  Results run(std::span<const c10::IValue>, bool, StderrCapture*) override { return {}; }
  void reset_before_runs(const std::string&, const at::Tensor&) override {}
  std::map<std::string, at::Tensor> constants() const override { return now; }
  void update_constants(const std::map<std::string, at::Tensor>& values, bool swap) override {
    swapped = swap;
    for (const auto& [fqn, value] : values) now[fqn] = value;
    if (refuses) throw std::runtime_error("no room");
  }
  void restore_constants() override {
    if (keeps_others) throw std::runtime_error("no way back");
    now = loaded;
  }

  const std::map<std::string, at::Tensor> loaded = {{"weight", at::full({2, 3}, 3.0f)}, {"count", at::full({2}, 4)}};
  std::map<std::string, at::Tensor> now = loaded;
  bool swapped = false, refuses = false, keeps_others = false;
};

TEST(ConstantsUpdate, FloatingWeightsAreHalvedForItsLifetime) {
  FakeSubject subject;
  bool spent = false;
  {
    const ConstantsUpdate update(CaseConstants::kSwapped, subject, {}, &spent);
    EXPECT_TRUE(subject.swapped);
    EXPECT_TRUE(at::equal(subject.now["weight"], at::full({2, 3}, 1.5f)));
    EXPECT_TRUE(at::equal(subject.now["count"], at::full({2}, 4)));
  }
  EXPECT_TRUE(at::equal(subject.now["weight"], at::full({2, 3}, 3.0f)));
  EXPECT_FALSE(spent);
}

TEST(ConstantsUpdate, WhatTheLoaderRefusesIsUndoneAndSaid) {
  FakeSubject subject;
  subject.refuses = true;
  bool spent = false;
  try {
    const ConstantsUpdate update(CaseConstants::kUpdated, subject, {}, &spent);
    FAIL() << "no error";
  } catch (const ConstantsUpdate::NotUpdated& error) {
    EXPECT_STREQ(error.what(), "the loader refuses: no room");
  }
  EXPECT_TRUE(at::equal(subject.now["weight"], at::full({2, 3}, 3.0f)));
  EXPECT_FALSE(spent);
}

TEST(ConstantsUpdate, APackageThatKeepsOtherWeightsIsSpent) {
  FakeSubject subject;
  subject.keeps_others = true;
  bool spent = false;
  { const ConstantsUpdate update(CaseConstants::kUpdated, subject, {}, &spent); }
  EXPECT_TRUE(spent);
}

}  // namespace
}  // namespace aotifuzz
