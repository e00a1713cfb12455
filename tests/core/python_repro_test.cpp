#include "core/python_repro.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace aotifuzz {
namespace {

CaseInput tensor(std::string name, Dtype dtype, std::vector<int64_t> sizes, ValueRecipe values) {
  CaseInput input;
  input.name = std::move(name);
  input.dtype = dtype;
  input.sizes = std::move(sizes);
  input.values = std::move(values);
  return input;
}

TEST(PythonRepro, SmallDenseTensorsAreWrittenOut) {
  Case c;
  c.inputs.push_back(tensor("x", Dtype::kF32, {2, 2}, {ValueKind::kList, {1.0, 0.1, std::nan(""), -0.0}, 0, {}}));
  c.inputs.push_back(tensor("i", Dtype::kU8, {3}, {ValueKind::kRamp, {int64_t{-1}, int64_t{1}}, 0, {}}));
  c.inputs.push_back(tensor("m", Dtype::kBool, {2}, {ValueKind::kOneHot, {int64_t{0}, int64_t{1}, int64_t{0}}, 0, {}}));
  EXPECT_EQ(python_inputs(c),
            "x = torch.tensor([1.0, 0.1, float(\"nan\"), -0.0], dtype=torch.float32).reshape([2, 2])\n"
            "i = torch.tensor([255, 0, 1], dtype=torch.uint8)\n"
            "m = torch.tensor([True, False], dtype=torch.bool)\n"
            "inputs = [x, i, m]\n");
}

TEST(PythonRepro, ScalarsAndNoneArePythonValues) {
  Case c;
  c.inputs.resize(4);
  c.inputs[0].name = "n", c.inputs[0].kind = CaseInput::Kind::kInt, c.inputs[0].scalar = int64_t{-3};
  c.inputs[1].name = "f", c.inputs[1].kind = CaseInput::Kind::kFloat, c.inputs[1].scalar = 2.0;
  c.inputs[2].name = "b", c.inputs[2].kind = CaseInput::Kind::kBool, c.inputs[2].scalar = int64_t{1};
  c.inputs[3].name = "o", c.inputs[3].kind = CaseInput::Kind::kNone;
  EXPECT_EQ(python_inputs(c), "n = -3\nf = 2.0\nb = True\no = None\ninputs = [n, f, b, o]\n");
}

TEST(PythonRepro, ANameThatWouldHideTorchIsChanged) {
  Case c;
  c.inputs.push_back(tensor("torch", Dtype::kF32, {1}, {}));
  EXPECT_EQ(python_inputs(c), "input_torch = torch.tensor([0.0], dtype=torch.float32)\ninputs = [input_torch]\n");
}

TEST(PythonRepro, OnlyTheHelpersOfTheRecipesInUseArePrinted) {
  Case c;
  c.inputs.push_back(tensor("x", Dtype::kF32, {1000}, {ValueKind::kNormal, {0.0, 1.0}, 1, {}}));
  const std::string text = python_inputs(c);
  EXPECT_NE(text.find("def _normal("), std::string::npos);
  EXPECT_EQ(text.find("def _sorted("), std::string::npos);
  EXPECT_NE(text.find("x = _tensor(torch.float32, [1000], _normal(0.0, 1.0, 1))\n"), std::string::npos);
}

// --- against a real torch

/// The storage that an input owns, as the worker fills it: the recipe everywhere, then the elements in logical order.
std::vector<uint8_t> expected_storage(const CaseInput& input, int64_t elements) {
  const size_t width = static_cast<size_t>(dtype_bytes(input.dtype));
  std::vector<uint8_t> storage(static_cast<size_t>(elements) * width),
      dense(static_cast<size_t>(input.numel()) * width);
  fill_values(input.values, input.dtype, elements, storage.data());
  fill_values(input.values, input.dtype, input.numel(), dense.data());
  const std::vector<int64_t> strides = input.effective_strides();
  std::vector<int64_t> index(input.sizes.size(), 0);
  for (int64_t i = 0; i < input.numel(); ++i) {
    int64_t at = input.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    std::memcpy(&storage[static_cast<size_t>(at) * width], &dense[static_cast<size_t>(i) * width], width);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == input.sizes[d];) index[d] = 0;
  }
  return storage;
}

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (uint8_t byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    out += two;
  }
  return out;
}

std::string run_python(const std::string& script) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("python_repro_test_" + std::to_string(::getpid()) + ".py");
  std::ofstream(path) << script;
  FILE* pipe = popen(("'" AOTIFUZZ_PYTHON "' '" + path.string() + "' 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  pclose(pipe);
  std::filesystem::remove(path);
  return out;
}

std::vector<ValueRecipe> every_kind() {
  const int64_t top = std::numeric_limits<int64_t>::max(), bottom = std::numeric_limits<int64_t>::min();
  return {
      {ValueKind::kConst, {2.5}, 0, {}},
      {ValueKind::kRamp, {int64_t{-3}, int64_t{7}}, 0, {}},
      {ValueKind::kRamp, {0.5, 0.1}, 0, {{60, -1.5}, {-1, int64_t{9}}}},
      {ValueKind::kRamp, {top, int64_t{3}}, 0, {}},
      {ValueKind::kUniform, {-1.0, 2.0}, 9, {}},
      {ValueKind::kNormal, {int64_t{1}, 30.0}, ~uint64_t{0}, {}},
      {ValueKind::kInts, {int64_t{-300}, int64_t{300}}, 9, {}},
      {ValueKind::kInts, {bottom, top}, 3, {}},
      {ValueKind::kSteps, {-2.0, 2.0, 0.1}, 9, {}},
      {ValueKind::kSteps, {int64_t{-9}, int64_t{9}, int64_t{2}}, 9, {}},
      {ValueKind::kSteps, {int64_t{-9}, 9.0, 0.0}, 9, {}},
      {ValueKind::kChoice, {bottom, int64_t{-1}, 0.5, -0.0, 1e300, -1e300}, 9, {{2, 7.9}}},
      {ValueKind::kList, {int64_t{1}, 0.1, int64_t{-4}, 65519.0, 1e-40}, 0, {}},
      {ValueKind::kSorted, {int64_t{0}, int64_t{99}}, 9, {}},
      {ValueKind::kSorted, {bottom, top}, 4, {}},
      {ValueKind::kPermutation, {}, 9, {}},
      {ValueKind::kOneHot, {int64_t{-2}, int64_t{9}, int64_t{2}}, 0, {}},
  };
}

/// Every kind in every dtype, then layouts.
Case everything() {
  Case c;
  const std::vector<Dtype> dtypes = {Dtype::kF32, Dtype::kF64,  Dtype::kF16,      Dtype::kBF16,   Dtype::kI64,
                                     Dtype::kI32, Dtype::kI16,  Dtype::kI8,       Dtype::kU8,     Dtype::kBool,
                                     Dtype::kC64, Dtype::kC128, Dtype::kF8E4M3FN, Dtype::kF8E5M2, Dtype::kU16,
                                     Dtype::kU32, Dtype::kU64};
  for (Dtype dtype : dtypes) {
    for (const ValueRecipe& recipe : every_kind()) {
      for (std::vector<int64_t> sizes :
           {std::vector<int64_t>{7, 10}, std::vector<int64_t>{3}, std::vector<int64_t>{}, std::vector<int64_t>{0, 4}})
        c.inputs.push_back(tensor("t" + std::to_string(c.inputs.size()), dtype, sizes, recipe));
    }
  }
  const ValueRecipe normal{ValueKind::kNormal, {0.0, 1.0}, 5, {}};
  const auto laid_out = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset,
                            int64_t misaligned) {
    CaseInput input = tensor("t" + std::to_string(c.inputs.size()), Dtype::kF32, std::move(sizes), normal);
    input.strides = std::move(strides);
    input.offset = offset;
    input.misalign_bytes = misaligned;
    c.inputs.push_back(std::move(input));
  };
  laid_out({4, 6}, {1, 4}, 0, 0);
  laid_out({4, 6}, {9, 1}, 3, 0);
  laid_out({4, 6}, {0, 1}, 0, 0);
  laid_out({4, 6}, {6, 1}, 0, 4);
  laid_out({4, 6}, {12, 2}, 1, 20);
  return c;
}

TEST(PythonRepro, TorchRebuildsTheBitsTheLayoutAndWhatLiesBetween) {
  if (run_python("import importlib.util\nprint(importlib.util.find_spec('torch') is not None)\n") != "True\n")
    GTEST_SKIP() << "no torch in " AOTIFUZZ_PYTHON;
  Case c = everything();
  const size_t owners = c.inputs.size();
  CaseInput owner = tensor("owner", Dtype::kF32, {5}, {ValueKind::kRamp, {0.5, 1.0}, 0, {}});
  c.inputs.push_back(owner);
  CaseInput shifted = tensor("shifted", Dtype::kF32, {4}, {});
  shifted.storage_of = "owner", shifted.offset = 3;
  c.inputs.push_back(shifted);
  CaseInput other_dtype = tensor("other_dtype", Dtype::kI32, {2}, {});
  other_dtype.storage_of = "owner", other_dtype.offset = 1;
  c.inputs.push_back(other_dtype);
  CaseInput zero = tensor("zero", Dtype::kF32, {3}, {});
  zero.zero_tensor = true;
  c.inputs.push_back(zero);

  std::istringstream lines(run_python("import torch\n" + python_inputs(c) + R"(
for t in inputs:
    if t._is_zerotensor():
        print("zero", list(t.shape), t.dtype)
        continue
    n = t.untyped_storage().nbytes()
    print(t.dtype, list(t.shape), list(t.stride()), t.storage_offset(), (t.untyped_storage().data_ptr()) % 64,
          bytes(t.untyped_storage()[i] for i in range(n)).hex())
)"));
  const auto listed = [](const std::vector<int64_t>& values) {
    std::string out;
    for (int64_t v : values) out += (out.empty() ? "" : ", ") + std::to_string(v);
    return "[" + out + "]";
  };
  std::string line;
  for (size_t i = 0; i < owners; ++i) {
    const CaseInput& input = c.inputs[i];
    ASSERT_TRUE(std::getline(lines, line)) << i;
    const std::string place = line.substr(0, line.rfind(' '));
    const std::string wanted = std::string(dtype_torch_name(input.dtype)) + " " + listed(input.sizes) + " " +
                               listed(input.effective_strides()) + " " + std::to_string(input.offset) + " ";
    ASSERT_TRUE(place.starts_with(wanted)) << line << "\nwanted " << wanted;
    if (input.misalign_bytes != 0) EXPECT_EQ(place.substr(wanted.size()), std::to_string(input.misalign_bytes));
    EXPECT_EQ(line.substr(line.rfind(' ') + 1), hex(expected_storage(input, input.storage_elements())))
        << dtype_name(input.dtype) << " " << value_kind_name(input.values.kind);
    if (HasFailure()) return;
  }
  const std::string shared = hex(expected_storage(owner, 7));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line.substr(line.rfind(' ') + 1), shared);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(line.starts_with("torch.float32 [4] [1] 3 ")) << line;
  EXPECT_EQ(line.substr(line.rfind(' ') + 1), shared);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(line.starts_with("torch.int32 [2] [1] 1 ")) << line;
  EXPECT_EQ(line.substr(line.rfind(' ') + 1), shared);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "zero [3] torch.float32");
}

}  // namespace
}  // namespace aotifuzz
