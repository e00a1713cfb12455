#include "gate/kernel_checks.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <cstdlib>

#include "tests/gate/own_process.h"
#include "tests/support/fake_device.h"

namespace aotifuzz {
namespace {

using test::in_own_process;

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tensor fine(const Tensor& x) { return x + 1; }
Tensor changes_input(const Tensor& x) {
  x.mutable_data_ptr<float>()[0] = 99;
  return x.clone();
}
Tensor& declared(Tensor& x) { return x.fill_(3); }
Tensor shares(const Tensor& x) { return x.view({-1}); }
Tensor declared_view(const Tensor& x) { return x.view({-1}); }
Tensor half_written(const Tensor& x) {
  Tensor out = at::empty(x.sizes(), x.options());
  out.slice(0, 0, out.size(0) / 2).fill_(1);
  return out;
}
Tensor reads_unwritten(const Tensor& x) { return at::empty(x.sizes(), at::kByte).to(at::kFloat) + x; }
Tensor noise(const Tensor& x) {
  Tensor out = at::empty(x.sizes(), x.options());
  for (int64_t i = 0; i < out.numel(); ++i) out.mutable_data_ptr<float>()[i] = static_cast<float>(std::rand());
  return out;
}
Tensor only_allocates(const Tensor& x) { return at::empty(x.sizes(), x.options()); }
/// Another result in one run, as where atomics add up in any order.
Tensor sometimes(const Tensor& x) {
  static int runs = 0;
  return x + (++runs == 2 ? 1 : 0);
}
Tensor raises(const Tensor&) { TORCH_CHECK(false, "never"); }
Tensor slack(const Tensor& x) {
  Tensor out = at::zeros(x.sizes(), x.options());
  static_cast<volatile char*>(out.mutable_data_ptr())[out.nbytes()] = 1;
  return out;
}

TORCH_LIBRARY(kernel_checks_test, m) {
  m.def("fine(Tensor x) -> Tensor");
  m.def("changes_input(Tensor x) -> Tensor");
  m.def("declared(Tensor(a!) x) -> Tensor(a!)");
  m.def("shares(Tensor x) -> Tensor");
  m.def("declared_view(Tensor(a) x) -> Tensor(a)");
  m.def("half_written(Tensor x) -> Tensor");
  m.def("reads_unwritten(Tensor x) -> Tensor");
  m.def("noise(Tensor x) -> Tensor");
  m.def("only_allocates(Tensor x) -> Tensor");
  m.def("sometimes(Tensor x) -> Tensor");
  m.def("raises(Tensor x) -> Tensor");
  m.def("slack(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(kernel_checks_test, CPU, m) {
  m.impl("fine", fine);
  m.impl("changes_input", changes_input);
  m.impl("declared", declared);
  m.impl("shares", shares);
  m.impl("declared_view", declared_view);
  m.impl("half_written", half_written);
  m.impl("reads_unwritten", reads_unwritten);
  m.impl("noise", noise);
  m.impl("only_allocates", only_allocates);
  m.impl("sometimes", sometimes);
  m.impl("raises", raises);
  m.impl("slack", slack);
}

struct Checked {
  CallResult result;
  std::vector<std::string> kinds, notes;
};

/// Runs an operator on f32[7,11]. For a process of its own: the allocator cannot be taken out again.
Checked check(const std::string& name, size_t alignment = 1, DeviceRuntime* device = nullptr) {
  GuardAllocator& allocator = GuardAllocator::install();
  allocator.set_alignment(alignment);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(("kernel_checks_test::" + name).c_str(), "");
  const DrawnArguments drawn = draw_arguments(op.schema(), nullptr);
  const OperatorCall call(op, drawn);
  Checked out;
  KernelMemory memory(allocator, device);
  KernelChecks checks(call, memory, [&](const CallPoint&, GateFinding finding) { out.kinds.push_back(finding.kind); });
  const std::vector<int> first = {0};
  out.result = checks.run({.alternative = &first, .values = {7, 11}});
  checks.finish(&out.notes);
  return out;
}

TEST(KernelChecksDeathTest, WhatIsRightOrDeclaredIsNoFinding) {
  for (const char* name : {"fine", "declared", "declared_view"})
    in_own_process([&] {
      const Checked checked = check(name);
      EXPECT_TRUE(checked.result.finished) << name;
      EXPECT_THAT(checked.kinds, IsEmpty()) << name;
    });
}

TEST(KernelChecksDeathTest, EachFaultIsFoundByItsKind) {
  const std::vector<std::pair<const char*, const char*>> faults = {{"changes_input", "hidden-mutation"},
                                                                   {"shares", "undeclared-alias"},
                                                                   {"half_written", "kernel-unwritten"},
                                                                   {"reads_unwritten", "kernel-reads-unwritten"}};
  for (const auto& [name, kind] : faults)
    in_own_process([&] { EXPECT_THAT(check(name).kinds, ElementsAre(kind)) << name; });
}

TEST(KernelChecksDeathTest, DamageWithinTheAlignmentIsFoundAndBeyondItEndsTheProcess) {
  in_own_process([] { EXPECT_THAT(check("slack", 64).kinds, ElementsAre("kernel-overruns")); });
  EXPECT_EXIT(check("slack"), ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(KernelChecksDeathTest, RandomNumbersAndMereAllocationAreToldFromUnwrittenMemory) {
  in_own_process([] {
    const Checked noisy = check("noise");
    EXPECT_THAT(noisy.kinds, IsEmpty());
    EXPECT_THAT(noisy.notes, ElementsAre(HasSubstr("random numbers?")));
  });
  in_own_process([] {
    const Checked empty = check("only_allocates");
    EXPECT_THAT(empty.kinds, IsEmpty());
    EXPECT_THAT(empty.notes, ElementsAre(HasSubstr("only allocates")));
  });
}

TEST(KernelChecksDeathTest, OnADeviceOneRepetitionProvesNothing) {
  in_own_process([] { EXPECT_THAT(check("sometimes").kinds, ElementsAre("kernel-reads-unwritten")); });
  in_own_process([] {
    test::FakeRuntime device;
    const Checked checked = check("sometimes", 64, &device);
    EXPECT_THAT(checked.kinds, IsEmpty());
    EXPECT_THAT(checked.notes, ElementsAre(HasSubstr("random numbers?")));
  });
  in_own_process([] {
    test::FakeRuntime device;
    EXPECT_THAT(check("reads_unwritten", 64, &device).kinds, ElementsAre("kernel-reads-unwritten"));
    EXPECT_EQ(device.runs, 8) << "two, and three times both again";
  });
}

TEST(KernelChecksDeathTest, ALaunchThatNobodyAskedAfterIsARefusal) {
  in_own_process([] {
    test::FakeRuntime device;
    device.unread_at = 1;  // before the call
    EXPECT_TRUE(check("fine", 64, &device).result.finished) << "what is left over is not the kernel's";
  });
  in_own_process([] {
    test::FakeRuntime device;
    device.unread_at = 2;
    const Checked checked = check("fine", 64, &device);
    EXPECT_FALSE(checked.result.finished);
    EXPECT_THAT(checked.result.error, HasSubstr("the kernel does not ask after it: invalid configuration"));
  });
}

TEST(KernelChecksDeathTest, ARefusalIsAResult) {
  in_own_process([] {
    const Checked checked = check("raises");
    EXPECT_FALSE(checked.result.finished);
    EXPECT_THAT(checked.result.error, HasSubstr("never"));
    EXPECT_THAT(checked.kinds, IsEmpty());
  });
}

}  // namespace
}  // namespace aotifuzz
