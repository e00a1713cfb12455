#include "worker/kernel_judge.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/kernel_maps.h"
#include "tests/support/planted_kernels.h"

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int64_t kElements = 40;

class KernelJudgeTest : public ::testing::Test {
 protected:
  KernelJudgeTest() {
    KernelCalls::instance().watch_library_of(reinterpret_cast<const void*>(&run_add_mul));
    at::manual_seed(3);
    inputs_ = {at::randn({kElements}), at::randn({kElements})};
  }

  std::vector<CapturedCall> run(KernelCapture& capture, int64_t forget = 0, int64_t spoil = 0) {
    at::Tensor out = at::empty({kElements});
    capture.begin(inputs_);
    run_add_mul(inputs_[0].data_ptr<float>(), inputs_[1].data_ptr<float>(), out.data_ptr<float>(), kElements, forget,
                spoil);
    return capture.end();
  }
  KernelRecord judged(int64_t forget, int64_t spoil) {
    const std::vector<CapturedCall> calls = run(judge_.capture(), forget, spoil);
    return judge_.judge({.calls = calls, .inputs = inputs_, .trace_back = true});
  }

  KernelMap map_ = testing::add_mul_map();
  KernelJudge judge_{map_, "test", [](const std::string&) { return at::Tensor(); }};
  std::vector<at::Tensor> inputs_;
};

TEST_F(KernelJudgeTest, CapturesWhatIsGivenAndWhatIsLeftBehind) {
  const std::vector<CapturedCall> calls = run(judge_.capture());
  ASSERT_THAT(calls, SizeIs(2));
  ASSERT_THAT(calls[0].entries, SizeIs(2));
  EXPECT_TRUE(at::equal(calls[0].entries[0], inputs_[0]));
  EXPECT_TRUE(at::equal(calls[0].exits[0], inputs_[0] + inputs_[1]));
  // In place: what it held before is kept.
  EXPECT_TRUE(at::equal(calls[1].entries[0], inputs_[0] + inputs_[1]));
  EXPECT_TRUE(at::equal(calls[1].exits[0], (inputs_[0] + inputs_[1]) * inputs_[1]));
}

TEST_F(KernelJudgeTest, RightKernelsPass) {
  const KernelRecord record = judged(0, 0);
  EXPECT_EQ(record.seen, 2);
  EXPECT_EQ(record.judged, 2);
  EXPECT_FALSE(record.first.has_value());
  EXPECT_FALSE(record.enters.has_value());
}

TEST_F(KernelJudgeTest, NamesTheFirstBadKernelAndNotItsVictim) {
  const KernelRecord record = judged(/*forget=*/1, 0);
  ASSERT_TRUE(record.first.has_value());
  EXPECT_EQ(record.first->place.kernel, "cpp_fused_add_0");
  EXPECT_EQ(record.first->place.argument, "out_ptr0");
  EXPECT_EQ(record.first->place.op, "aten.add.Tensor");
  EXPECT_EQ(record.first->answer.index, "[39]");
  EXPECT_EQ(record.first->inputs_wrong, "in_ptr0 (a) exact, in_ptr1 (b) exact");
}

TEST_F(KernelJudgeTest, WhenNoKernelIsWrongSaysWhereTheWrongValueComesIn) {
  const KernelRecord record = judged(0, /*spoil=*/3);
  EXPECT_FALSE(record.first.has_value());
  ASSERT_TRUE(record.enters.has_value());
  EXPECT_EQ(record.enters->place.kernel, "cpp_fused_mul_1");
  EXPECT_EQ(record.enters->place.value, "add");
  EXPECT_EQ(record.enters->sentence, "cpp_fused_add_0 left the right value: the buffer was changed in between");
}

TEST_F(KernelJudgeTest, ALayoutLargerThanTheBufferIsNotJudgedAndDoesNotEndTheProcess) {
  map_.calls[0].arguments[0].entry[0].sizes = {Expr::integer(int64_t{1} << 40)};
  KernelJudge judge(map_, "test", [](const std::string&) { return at::Tensor(); });
  const std::vector<CapturedCall> calls = run(judge.capture());
  const KernelRecord record = judge.judge({.calls = calls, .inputs = inputs_});
  EXPECT_EQ(record.judged, 1);
  EXPECT_THAT(record.not_judged,
              ElementsAre(Pair("a buffer that is smaller than its layout, or no room for a copy of it", 1)));
}

TEST_F(KernelJudgeTest, AnUnknownSizeIsNotJudged) {
  map_.calls[1].arguments[1].entry[0].sizes = {Expr::symbol("u7")};
  KernelJudge judge(map_, "test", [](const std::string&) { return at::Tensor(); });
  const std::vector<CapturedCall> calls = run(judge.capture());
  EXPECT_THAT(judge.judge({.calls = calls, .inputs = inputs_}).not_judged,
              ElementsAre(Pair("a size that depends on values", 1)));
}

TEST_F(KernelJudgeTest, WhatTheMapDoesNotVouchForIsLeftOut) {
  map_.calls[0].judged = false;
  map_.calls[0].why_not = "random numbers";
  KernelJudge judge(map_, "test", [](const std::string&) { return at::Tensor(); });
  EXPECT_THAT(judge.why_not(), ElementsAre("random numbers", ""));
  const std::vector<CapturedCall> calls = run(judge.capture(), /*forget=*/1);
  const KernelRecord record = judge.judge({.calls = calls, .inputs = inputs_});
  EXPECT_EQ(record.judged, 1);
  EXPECT_FALSE(record.first.has_value());
}

TEST_F(KernelJudgeTest, ASliceThatNeedsMoreThanTheCallIsGivenIsRefused) {
  map_.calls[1].arguments[1].entry.clear();
  KernelJudge judge(map_, "test", [](const std::string&) { return at::Tensor(); });
  EXPECT_THAT(judge.why_not()[1], HasSubstr("needs input b"));
}

TEST_F(KernelJudgeTest, ASumKeptForAMeanIsJudgedAsTheMean) {
  // The kernel leaves 2 * (a + b) / 2 behind, as far as the map is concerned.
  map_.calls[0].arguments[2].exit[0].rule = KernelLabel::Rule::kDivide;
  map_.calls[0].arguments[2].exit[0].by = Expr::integer(2);
  KernelJudge judge(map_, "test", [](const std::string&) { return at::Tensor(); });
  const std::vector<CapturedCall> calls = run(judge.capture());
  const KernelRecord record = judge.judge({.calls = calls, .inputs = inputs_});
  ASSERT_TRUE(record.first.has_value());  // half of the sum is not the sum
  EXPECT_EQ(record.first->place.call, 0u);
}

TEST_F(KernelJudgeTest, TheObserverBehindSeesEveryCall) {
  class Counter final : public KernelObserver {
   public:
    void before(const KernelCall&) override { ++begun; }
    void after(const KernelCall&) override { ++ended; }
    int begun = 0, ended = 0;
  } counter;
  KernelCalls::instance().set_observer(&counter);
  run(judge_.capture());
  EXPECT_EQ(counter.begun, 2);
  EXPECT_EQ(counter.ended, 2);
  EXPECT_EQ(KernelCalls::instance().observer(), &counter);
  KernelCalls::instance().set_observer(nullptr);
}

/// Copies of a device's memory, where the device is the host.
class CountedSnapshots final : public Snapshots {
 public:
  explicit CountedSnapshots(int* copies) : copies_(copies) {}
  c10::Device device() const override { return c10::kCPU; }
  void clear() override { host_.clear(); }
  const char* copy(const void* from, size_t bytes) override {
    ++*copies_;
    return host_.copy(from, bytes);
  }

 private:
  int* copies_;
  HostSnapshots host_;
};

/// What the launches of (a + b) * b were seen to be given: pointers, then a size of 32 bits, each in a word of its own.
class LaunchesTest : public ::testing::Test {
 protected:
  LaunchesTest() {
    at::manual_seed(3);
    inputs_ = {at::randn({kElements}), at::randn({kElements})};
    map_.calls[0].kernel = "triton_poi_fused_add_0";
    map_.calls[1].kernel = "triton_poi_fused_mul_1";
    for (MappedCall& call : map_.calls) call.kind = MappedCall::Kind::kTriton;
    judge_ = std::make_unique<KernelJudge>(map_, "test", [](const std::string&) { return at::Tensor(); });
    judge_->set_device(std::make_unique<CountedSnapshots>(&copies_), [](const std::string&) { return at::Tensor(); });
  }

  template <class Kernel>
  static void launch(const char* name, std::vector<void*> pointers, Kernel kernel) {
    std::vector<uint64_t> words;
    for (void* pointer : pointers) words.push_back(reinterpret_cast<uint64_t>(pointer));
    words.push_back(static_cast<uint32_t>(kElements));
    words.resize(std::max<size_t>(words.size(), 6));
    const LaunchShape shape{{1, 1, 1}, {128, 1, 1}};
    KernelCall call;
    call.name = name;
    call.integers = words.data();
    call.launch = &shape;
    KernelObserver& observer = *KernelCalls::instance().observer();
    observer.before(call);
    kernel();
    observer.after(call);
  }

  KernelRecord judged(double scale) {
    at::Tensor out = at::empty({kElements});
    judge_->capture().begin(inputs_);
    launch("triton_poi_fused_add_0", {inputs_[0].data_ptr(), inputs_[1].data_ptr(), out.data_ptr()},
           [&] { out.copy_((inputs_[0] + inputs_[1]) * scale); });
    launch("triton_poi_fused_mul_1", {out.data_ptr(), inputs_[1].data_ptr()}, [&] { out.mul_(inputs_[1]); });
    const std::vector<CapturedCall> calls = judge_->capture().end();
    return judge_->judge({.calls = calls, .inputs = inputs_, .trace_back = true});
  }

  int copies_ = 0;
  KernelMap map_ = testing::add_mul_map();
  std::unique_ptr<KernelJudge> judge_;
  std::vector<at::Tensor> inputs_;
};

TEST_F(LaunchesTest, RightOnesPassAndAreCopiedOnTheirDevice) {
  const KernelRecord record = judged(1);
  EXPECT_EQ(record.judged, 2);
  EXPECT_FALSE(record.first.has_value());
  EXPECT_EQ(copies_, 6);  // three buffers given, and one left, and in place one of each
}

TEST_F(LaunchesTest, AWrongOneIsNamed) {
  const KernelRecord record = judged(1.001);
  ASSERT_TRUE(record.first.has_value());
  EXPECT_EQ(record.first->place.kernel, "triton_poi_fused_add_0");
  EXPECT_EQ(record.first->place.op, "aten.add.Tensor");
  EXPECT_EQ(record.first->inputs_wrong, "in_ptr0 (a) exact, in_ptr1 (b) exact");
}

TEST_F(LaunchesTest, WithFewerArgumentsThanTheMapSaysIsNotJudged) {
  at::Tensor out = at::zeros({kElements});
  judge_->capture().begin(inputs_);
  launch("triton_poi_fused_add_0", {}, [] {});
  const std::vector<CapturedCall> calls = judge_->capture().end();
  const KernelRecord record = judge_->judge({.calls = calls, .inputs = inputs_});
  EXPECT_EQ(record.judged, 0);
  EXPECT_FALSE(record.not_judged.empty());
}

}  // namespace
}  // namespace aotifuzz
