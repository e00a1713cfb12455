#include "worker/sparse_storage.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <new>

#include "worker/materialize.h"

namespace aotifuzz {
namespace {

constexpr int64_t kFar = int64_t{1} << 31;

int64_t resident_mib() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long mapped = 0, resident = 0;
  if (file && std::fscanf(file, "%ld %ld", &mapped, &resident) != 2) resident = 0;
  if (file) std::fclose(file);
  return resident / 256;
}

TEST(SparseStorage, IsForWhatViewsHardlyReach) {
  EXPECT_TRUE(wants_sparse(int64_t{8} << 30, 64));
  EXPECT_FALSE(wants_sparse(int64_t{8} << 30, int64_t{1} << 30));
  EXPECT_FALSE(wants_sparse(1 << 20, 4));
}

TEST(SparseStorage, EndsAgainstInaccessibleMemory) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const c10::Storage storage = make_sparse_storage((int64_t{4} << 30) + 12);
  char* data = static_cast<char*>(storage.mutable_data());
  data[0] = 1;
  data[(int64_t{4} << 30) + 11] = 2;
  EXPECT_EQ(data[int64_t{2} << 30], 0);
  EXPECT_DEATH(*const_cast<volatile char*>(data + (int64_t{4} << 30) + 12) = 3, "");
}

TEST(SparseStorage, WithoutAddressSpaceIsBadAlloc) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit small = before;
  small.rlim_cur = rlim_t{8} << 30;
  setrlimit(RLIMIT_AS, &small);
  EXPECT_THROW(make_sparse_storage(int64_t{16} << 30), std::bad_alloc);
  setrlimit(RLIMIT_AS, &before);
}

TEST(SparseStorage, AnInputFarFromItsStorageTakesNoMemoryAndHasItsValues) {
  Case c;
  for (const char* name : {"x", "y"}) {
    CaseInput input;
    input.name = name;
    input.sizes = {3, 4};
    input.values.kind = ValueKind::kRamp;
    input.values.numbers = {Number{int64_t{0}}, Number{int64_t{1}}};
    c.inputs.push_back(input);
  }
  c.inputs[0].offset = kFar;
  c.inputs[1].strides = std::vector<int64_t>{kFar, 1};
  const int64_t before = resident_mib();
  const CaseInputs inputs(c);
  const std::vector<at::Tensor> copy = inputs.copies();
  const at::Tensor expected = at::arange(12, at::kFloat).reshape({3, 4});
  for (const std::vector<at::Tensor>& tensors :
       {std::vector<at::Tensor>(inputs.pristine().begin(), inputs.pristine().end()), copy}) {
    EXPECT_TRUE(tensors[0].equal(expected));
    EXPECT_TRUE(tensors[1].equal(expected));
  }
  EXPECT_EQ(copy[0].storage_offset(), kFar);
  EXPECT_EQ(copy[1].strides(), (c10::IntArrayRef{kFar, 1}));
  copy[0].fill_(7);
  EXPECT_TRUE(inputs.pristine()[0].equal(expected)) << "a run's writes must not reach the pristine values";
  EXPECT_LT(resident_mib() - before, 256);
}

TEST(SparseStorage, ViewsOfItShareIt) {
  Case c;
  CaseInput x, y;
  x.name = "x";
  x.sizes = {4};
  x.values.kind = ValueKind::kRamp;
  x.values.numbers = {Number{int64_t{0}}, Number{int64_t{1}}};
  y.name = "y";
  y.sizes = {2};
  y.storage_of = "x";
  y.offset = kFar;
  y.strides = std::vector<int64_t>{1};
  c.inputs = {x, y};
  const CaseInputs inputs(c);
  const std::vector<at::Tensor> copy = inputs.copies();
  EXPECT_EQ(copy[0].storage().data(), copy[1].storage().data());
  EXPECT_EQ(copy[0][3].item<float>(), 3);
  EXPECT_EQ(copy[1][1].item<float>(), 0);
}

}  // namespace
}  // namespace aotifuzz
