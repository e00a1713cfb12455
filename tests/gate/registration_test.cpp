#include "gate/registration.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

namespace aotifuzz {
namespace {

using ::testing::EndsWith;

at::Tensor same(const at::Tensor& x) { return x.clone(); }

constexpr int kSchemaLine = __LINE__ + 1;
TORCH_LIBRARY(registration_test, m) {
  m.def("with_kernel(Tensor x) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", same);
}
constexpr int kKernelLine = __LINE__ + 1;
TORCH_LIBRARY_IMPL(registration_test, CPU, m) { m.impl("with_kernel", same); }

c10::OperatorHandle op(const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); }

TEST(Registration, AKernelsBlockIsNamed) {
  const Registration at = registration_of(op("registration_test::with_kernel"), "CPU");
  EXPECT_THAT(at.file, EndsWith("registration_test.cpp"));
  EXPECT_EQ(at.line, kKernelLine);
}

TEST(Registration, WithoutAKeyOrAKernelForItTheSchemasIs) {
  for (const char* key : {"", "Meta"}) {
    const Registration at = registration_of(op("registration_test::with_kernel"), key);
    EXPECT_THAT(at.file, EndsWith("registration_test.cpp")) << key;
    EXPECT_EQ(at.line, kSchemaLine) << key;
  }
}

TEST(Registration, ACompositeKernelStandsForEachKey) {
  for (const char* key : {"CPU", "Meta"})
    EXPECT_EQ(registration_of(op("registration_test::composite"), key).line, kSchemaLine) << key;
}

}  // namespace
}  // namespace aotifuzz
