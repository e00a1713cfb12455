#include "core/npy.h"

#include <gtest/gtest.h>

#include <cstring>

namespace aotifuzz {
namespace {

std::vector<uint8_t> bytes_of(const std::vector<float>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(float));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string with_header(const std::string& dict, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict + data;
}

TEST(Npy, WhatIsPrintedReadsBack) {
  const std::vector<uint8_t> bytes = bytes_of({1, 2, 3, 4, 5, 6});
  const std::string file = print_npy(Dtype::kF32, {2, 3}, bytes);
  EXPECT_EQ((file.size() - bytes.size()) % 64, 0u);  // as numpy aligns it
  const auto array = parse_npy(file);
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_EQ(array->dtype, Dtype::kF32);
  EXPECT_EQ(array->sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(array->column_major);
  EXPECT_EQ(array->bytes, bytes);
}

TEST(Npy, ColumnMajorArraysComeInLogicalOrder) {
  const std::vector<uint8_t> columns = bytes_of({1, 4, 2, 5, 3, 6});
  const auto array = parse_npy(
      with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", {columns.begin(), columns.end()}));
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_TRUE(array->column_major);
  EXPECT_EQ(array->bytes, bytes_of({1, 2, 3, 4, 5, 6}));
}

TEST(Npy, OtherByteOrdersAreTurned) {
  const auto array =
      parse_npy(with_header("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n", std::string("\1\2\3\4", 4)));
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_EQ(array->dtype, Dtype::kI16);
  EXPECT_EQ(array->bytes, (std::vector<uint8_t>{2, 1, 4, 3}));
}

TEST(Npy, ANumberHasNoSizes) {
  const auto array =
      parse_npy(with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (), }\n", std::string("\7", 1)));
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_TRUE(array->sizes.empty());
  EXPECT_EQ(array->bytes, (std::vector<uint8_t>{7}));
}

TEST(Npy, TypesWithoutANameKeepTheirWidth) {
  const auto array = parse_npy(print_npy(Dtype::kBF16, {2}, {1, 2, 3, 4}));
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_EQ(array->dtype, Dtype::kUnknown);
  EXPECT_EQ(array->width, 2);
}

TEST(Npy, AnArrayWithoutElementsNeedsNoData) {
  const auto array = parse_npy(print_npy(Dtype::kI64, {3, 0}, {}));
  ASSERT_TRUE(array) << array.error().what;
  EXPECT_EQ(array->sizes, (std::vector<int64_t>{3, 0}));
}

TEST(Npy, WhatIsNoArrayOfNumbersIsSaid) {
  const std::string good = print_npy(Dtype::kF32, {2}, bytes_of({1, 2}));
  const auto dict = [](const std::string& text) { return with_header(text, std::string(8, '\0')); };
  const std::pair<std::string, std::string> bad[] = {
      {"", "no .npy file"},
      {"PK\3\4 something else", "no .npy file"},
      {good.substr(0, 20), "cut off"},
      {good.substr(0, good.size() - 1), "7 bytes of elements"},
      {good + "x", "9 bytes of elements"},
      {dict("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "Python objects"},
      {dict("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"), "records"},
      {dict("{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }"), "no tensor has elements of the type <U2"},
      {dict("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }"), "fortran_order"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"), "shape"},
      {dict("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }"), "too large"},
      {dict("{'descr': '<f4', 'fortran_order': False, }"), "lacks"},
      {dict("[1, 2]"), "no dict"},
      {std::string("\x93NUMPY\x07\x00", 8) + std::string(20, ' '), "version 7"}};
  for (const auto& [file, why] : bad) {
    const auto array = parse_npy(file);
    ASSERT_FALSE(array) << why;
    EXPECT_NE(array.error().what.find(why), std::string::npos) << array.error().what << ", expected: " << why;
  }
}

}  // namespace
}  // namespace aotifuzz
