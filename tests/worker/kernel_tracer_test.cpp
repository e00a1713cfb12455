#include "worker/kernel_tracer.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "tests/support/kernel_maps.h"
#include "tests/support/planted_kernels.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class KernelTracerTest : public ::testing::Test {
 protected:
  KernelTracerTest() { KernelCalls::instance().watch_library_of(reinterpret_cast<const void*>(&run_add_mul)); }
};

/// As a package tells: the data pointer of a tensor is asked for before a kernel gets it.
void ask_for_data(KernelTracer& tracer, const at::Tensor& tensor) {
  void* pointer = tensor.data_ptr();
  const uint64_t integers[6] = {reinterpret_cast<uint64_t>(&tensor), reinterpret_cast<uint64_t>(&pointer), 0, 0, 0, 0};
  KernelCall call;
  call.name = "aoti_torch_get_data_ptr";
  call.integers = integers;
  tracer.before(call);
  tracer.after(call);
}

TEST_F(KernelTracerTest, TellsWhatWasGivenAndWhatWasLeft) {
  KernelTracer tracer({.level = TraceLevel::kValues, .kernels = {}, .folder = ""});
  const at::Tensor a = at::ones({3}), b = at::full({3}, 2.0f), out = at::zeros({3});
  tracer.begin();
  for (const at::Tensor& tensor : {a, b, out}) ask_for_data(tracer, tensor);
  run_add_mul(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), 3, 0, 0);
  const std::vector<TraceCall> trace = tracer.end();
  ASSERT_THAT(trace, SizeIs(2));
  EXPECT_EQ(trace[0].kernel, "cpp_fused_add_0");
  ASSERT_THAT(trace[0].given, SizeIs(2));
  ASSERT_THAT(trace[0].left, SizeIs(1));
  EXPECT_EQ(trace[0].left[0].first_values, "3, 3, 3");
  EXPECT_EQ(trace[0].left[0].mean, 3);
  // In place: what it was given and what it left.
  EXPECT_EQ(trace[1].given[0].first_values, "3, 3, 3");
  EXPECT_EQ(trace[1].left[0].first_values, "6, 6, 6");
}

TEST_F(KernelTracerTest, ACallThatDoesNotReturnIsTheLastOne) {
  KernelTracer tracer({.level = TraceLevel::kValues, .kernels = {}, .folder = ""});
  const at::Tensor a = at::full({3}, 2.0f);
  tracer.begin();
  ask_for_data(tracer, a);
  const uint64_t integers[6] = {reinterpret_cast<uint64_t>(a.data_ptr()), 0, 0, 0, 0, 0};
  KernelCall call;
  call.name = "cpp_fused_index_0";
  call.integers = integers;
  tracer.before(call);  // an exception passes after() by
  const std::vector<TraceCall> trace = tracer.end();
  ASSERT_THAT(trace, SizeIs(1));
  EXPECT_EQ(trace[0].kernel, "cpp_fused_index_0");
  EXPECT_EQ(trace[0].verdict, "raised an error");
  ASSERT_THAT(trace[0].given, SizeIs(1));
  EXPECT_EQ(trace[0].given[0].first_values, "2, 2, 2");
}

TEST_F(KernelTracerTest, LaunchesAreTracedWithTheirGrid) {
  KernelTracer tracer({.level = TraceLevel::kStats, .kernels = {}, .folder = ""});
  const at::Tensor a = at::ones({3}), out = at::zeros({3});
  tracer.begin();
  for (const at::Tensor& tensor : {a, out}) ask_for_data(tracer, tensor);
  // Numbers between the pointers, and a pointer beyond the sixth argument.
  const uint64_t words[8] = {reinterpret_cast<uint64_t>(a.data_ptr()),  3, 0, 0, 0, 0, 7,
                             reinterpret_cast<uint64_t>(out.data_ptr())};
  const LaunchShape shape{{4, 2, 1}, {128, 1, 1}};
  KernelCall call;
  call.name = "triton_poi_fused_add_0";
  call.integers = words;
  call.stack = words + 6;
  call.stack_words = 2;
  call.launch = &shape;
  tracer.before(call);
  out.fill_(2);
  tracer.after(call);
  const std::vector<TraceCall> trace = tracer.end();
  ASSERT_THAT(trace, SizeIs(1));
  EXPECT_EQ(trace[0].launch, "grid 4x2x1, block 128x1x1");
  ASSERT_THAT(trace[0].given, SizeIs(1));
  EXPECT_EQ(trace[0].given[0].name, "argument 1");
  ASSERT_THAT(trace[0].left, SizeIs(1));
  EXPECT_EQ(trace[0].left[0].name, "argument 8");
  EXPECT_EQ(trace[0].left[0].mean, 2);
}

TEST_F(KernelTracerTest, AtLevelNamesALaunchHasItsGridAndAMapSaysTheRest) {
  KernelMap map = testing::add_mul_map();
  map.calls[0].kernel = "triton_poi_fused_add_0";
  map.calls[0].kind = MappedCall::Kind::kTriton;
  KernelTracer tracer({.level = TraceLevel::kNames, .kernels = {}, .folder = ""});
  const at::Tensor a = at::ones({3}), b = at::ones({3}), out = at::zeros({3});
  tracer.begin(&map);
  for (const at::Tensor& tensor : {a, b, out}) ask_for_data(tracer, tensor);
  const uint64_t words[6] = {reinterpret_cast<uint64_t>(a.data_ptr()), reinterpret_cast<uint64_t>(b.data_ptr()),
                             reinterpret_cast<uint64_t>(out.data_ptr())};
  const LaunchShape shape{{4, 2, 1}, {128, 1, 1}};
  KernelCall call;
  call.name = "triton_poi_fused_add_0";
  call.integers = words;
  call.launch = &shape;
  tracer.before(call);
  tracer.after(call);
  const std::vector<TraceCall> trace = tracer.end();
  ASSERT_THAT(trace, SizeIs(1));
  EXPECT_EQ(trace[0].launch, "grid 4x2x1, block 128x1x1");
  EXPECT_THAT(trace[0].given, SizeIs(2));
  EXPECT_THAT(trace[0].left, SizeIs(1));
}

// What a call writes may be what was there already, and memory that it overwrites was not given.
TEST_F(KernelTracerTest, AMapSaysWhatIsGivenAndWhatIsLeft) {
  const KernelMap map = testing::add_mul_map();
  KernelTracer tracer({.level = TraceLevel::kStats, .kernels = {}, .folder = ""});
  const at::Tensor a = at::zeros({3}), b = at::zeros({3}), out = at::zeros({3});
  tracer.begin(&map);
  for (const at::Tensor& tensor : {a, b, out}) ask_for_data(tracer, tensor);
  run_add_mul(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), 3, 0, 0);
  const std::vector<TraceCall> trace = tracer.end();
  EXPECT_THAT(trace[0].given, SizeIs(2));
  EXPECT_THAT(trace[0].left, SizeIs(1));
  EXPECT_THAT(trace[1].given, SizeIs(2));
  EXPECT_THAT(trace[1].left, SizeIs(1));
}

TEST_F(KernelTracerTest, OnlyTheKernelsAskedForAndNoNumbersAtLevelNames) {
  KernelTracer tracer({.level = TraceLevel::kNames, .kernels = {"mul"}, .folder = ""});
  const at::Tensor a = at::ones({3}), b = at::ones({3}), out = at::zeros({3});
  tracer.begin();
  for (const at::Tensor& tensor : {a, b, out}) ask_for_data(tracer, tensor);
  run_add_mul(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), 3, 0, 0);
  const std::vector<TraceCall> trace = tracer.end();
  ASSERT_THAT(trace, SizeIs(1));
  EXPECT_EQ(trace[0].ordinal, 2);
  for (const TraceTensor& tensor : trace[0].given) EXPECT_FALSE(tensor.has_stats);
}

TEST(TraceStatistics, CountWhatIsNoNumberApart) {
  TraceTensor out;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  add_statistics(at::tensor({1.0f, nan, -3.0f, inf, nan}), TraceLevel::kStats, &out);
  EXPECT_EQ(out.elements, 5);
  EXPECT_EQ(out.nans, 2);
  EXPECT_EQ(out.infinities, 1);
  EXPECT_EQ(out.least, -3);
  EXPECT_EQ(out.greatest, 1);
  EXPECT_EQ(out.mean, -1);
  EXPECT_THAT(out.first_values, IsEmpty());
}

TEST(WriteNpy, HasNumPysHeaderAndTheBytes) {
  const std::string path = std::filesystem::temp_directory_path() / ("aotifuzz-" + std::to_string(getpid()) + ".npy");
  write_npy(at::arange(6, at::kFloat).view({2, 3}).t(), path);
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(path);
  EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
  EXPECT_THAT(bytes, HasSubstr("'shape': (3,2,)"));
  EXPECT_EQ((bytes.size() - 24) % 64, 0u);                                          // six floats behind the header
  EXPECT_EQ(*reinterpret_cast<const float*>(bytes.data() + bytes.size() - 20), 3);  // rows of the transposed tensor
  EXPECT_THROW(write_npy(at::ones({1}), "/nowhere/x.npy"), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
