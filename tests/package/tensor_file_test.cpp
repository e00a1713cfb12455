#include "package/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/npy.h"
#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

std::string safetensors(const std::string& header, const std::string& data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i));
  return out + header + data;
}

std::string read_error(const std::string& path) {
  try {
    read_tensor_file(path);
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorFile, SafetensorsComeInTheOrderOfTheirData) {
  const auto values = parse_safetensors(
      safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]},)"
                  R"("a":{"dtype":"I32","shape":[],"data_offsets":[4,8]}})",
                  "abcdefgh"));
  ASSERT_TRUE(values) << values.error().what;
  ASSERT_EQ(values->size(), 2u);
  EXPECT_EQ((*values)[0].input.name, "b");
  EXPECT_EQ((*values)[0].input.dtype, Dtype::kBF16);
  EXPECT_EQ((*values)[0].input.sizes, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ((*values)[1].input.name, "a");
  EXPECT_EQ((*values)[1].bytes, (std::vector<uint8_t>{'e', 'f', 'g', 'h'}));
}

TEST(TensorFile, AHeaderOfAnyLengthIsTakenForWhatItIs) {
  // A length of 0x80 begins as a pickle does.
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  header.append(0x80 - header.size(), ' ');
  const TemporaryFile file("x.bin");
  std::ofstream(file.path(), std::ios::binary) << safetensors(header, "a");
  EXPECT_EQ(read_tensor_file(file.path()).front().input.name, "a");
}

TEST(TensorFile, DamagedSafetensorsAreSaid) {
  const auto entry = [](const std::string& body) { return safetensors("{\"a\":{" + body + "}}", "abcdefgh"); };
  const std::pair<std::string, std::string> bad[] = {
      {"", "cut off"},
      {"1234567", "cut off"},
      {std::string(8, '\xff'), "cut off"},
      {safetensors("{", ""), "not valid JSON"},
      {safetensors("[]", ""), "expected an object"},
      {entry(R"("dtype":"F32","shape":[2])"), "data_offsets"},
      {entry(R"("dtype":"F4","shape":[2],"data_offsets":[0,8])"), "no tensor has elements"},
      {entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "needs 12 bytes"},
      {entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "not negative"},
      {entry(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"), "too large"},
      {entry(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"), "cut off"},
      {entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "needs 8 bytes"},
      {safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                   R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                   "abcdefgh"),
       "share"}};
  for (const auto& [file, why] : bad) {
    const auto values = parse_safetensors(file);
    ASSERT_FALSE(values) << why;
    EXPECT_THAT(values.error().what, HasSubstr(why));
  }
}

TEST(TensorFile, AnNpzNamesItsArrays) {
  const TemporaryFile file("x.npz");
  write_zip(file.path(),
            {{"ids.npy", print_npy(Dtype::kI64, {1}, {1, 0, 0, 0, 0, 0, 0, 0})},
             {"mask.npy", print_npy(Dtype::kBool, {2}, {0, 1})}},
            /*compress=*/true);
  const std::vector<SavedValue> values = read_tensor_file(file.path());
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].input.name, "ids");
  EXPECT_EQ(values[0].input.dtype, Dtype::kI64);
  EXPECT_EQ(values[1].input.name, "mask");
  EXPECT_FALSE(is_torch_save(file.path()));
}

TEST(TensorFile, ColumnMajorArraysKeepTheirLayout) {
  std::string npy = print_npy(Dtype::kU8, {2, 3}, {1, 2, 3, 4, 5, 6});
  const size_t at = npy.find("False");
  npy.replace(at, 5, "True ");
  const auto values = parse_npy_value(npy);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->front().input.strides, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(values->front().bytes, (std::vector<uint8_t>{1, 3, 5, 2, 4, 6}));
}

TEST(TensorFile, WhatIsNoneOfTheFormatsIsSaidWithTheFile) {
  const TemporaryFile file("x.bin");
  std::ofstream(file.path()) << "neither this nor that";
  EXPECT_THAT(read_error(file.path()), HasSubstr("none of the formats"));
  std::ofstream(file.path(), std::ios::trunc) << "\x80\x02}q";
  EXPECT_THAT(read_error(file.path()), HasSubstr("pickle"));
  EXPECT_THAT(read_error(file.path() + ".npy"), HasSubstr("cannot be read"));
  write_zip(file.path(), {{"x.txt", "text"}});
  EXPECT_THAT(read_error(file.path()), HasSubstr("no .npy"));
  write_zip(file.path(), {{"x/data.pkl", "."}, {"x/version", "3"}});
  EXPECT_TRUE(is_torch_save(file.path()));
}

}  // namespace
}  // namespace aotifuzz
