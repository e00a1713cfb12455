#include "campaign/run_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

/// x f32[B, T, 16], i i64[B, T], n: a number fixed at export.
Contract contract() {
  support::ContractMaker maker;
  const Expr b = maker.symbol("s77", 1, 64), t = maker.symbol("s27", 1, 512);
  maker.tensor("x", Dtype::kF32, {b, t, support::number(16)});
  maker.tensor("i", Dtype::kI64, {b, t});
  maker.scalar("n", CaseInput::Kind::kInt, int64_t{3}, /*is_constant=*/true);
  return maker.contract();
}

SavedValue saved(const std::string& name, Dtype dtype, std::vector<int64_t> sizes) {
  SavedValue value;
  value.input.name = name;
  value.input.dtype = dtype;
  value.input.sizes = std::move(sizes);
  value.width = dtype == Dtype::kUnknown ? 2 : dtype_bytes(dtype);
  value.bytes.assign(static_cast<size_t>(value.input.numel() * value.width), 1);
  return value;
}

/// Files that the tests' command lines name.
std::vector<SavedValue> read(const std::string& path) {
  static const std::map<std::string, std::vector<SavedValue>> files = {
      {"x.npy", {saved("", Dtype::kF32, {4, 7, 16})}},
      {"i.npy", {saved("", Dtype::kI64, {4, 7})}},
      {"both.npz", {saved("i", Dtype::kI64, {4, 7}), saved("x", Dtype::kF32, {4, 7, 16})}},
      {"list.pt", {saved("", Dtype::kF32, {4, 7, 16}), saved("", Dtype::kI64, {4, 7})}},
      {"odd.npz", {saved("a", Dtype::kI64, {4, 7}), saved("b", Dtype::kI64, {4, 7})}},
      {"raw.npy", {saved("", Dtype::kUnknown, {4, 7})}}};
  const auto file = files.find(path);
  if (file == files.end()) throw HarnessError("no such file", path, "give another");
  return file->second;
}

RunInputs made(const std::vector<std::string>& arguments) { return make_run_inputs(contract(), arguments, read); }

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    made(arguments);
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "made";
}

TEST(RunInputs, FilesAreTakenInOrderOrByName) {
  const std::vector<std::vector<std::string>> ways = {
      {"x.npy", "i.npy"}, {"i=i.npy", "x.npy"}, {"i=i.npy", "x=x.npy"},
      {"both.npz"},       {"list.pt"},          {"x=both.npz", "i=both.npz"}};
  for (const auto& way : ways) {
    const RunInputs inputs = made(way);
    ASSERT_EQ(inputs.input.inputs.size(), 3u) << way.front();
    EXPECT_EQ(inputs.input.inputs[0].name, "x");
    EXPECT_EQ(inputs.input.inputs[0].sizes, (std::vector<int64_t>{4, 7, 16})) << way.front();
    EXPECT_EQ(inputs.input.inputs[1].dtype, Dtype::kI64) << way.front();
    EXPECT_EQ(to_int64(inputs.input.inputs[2].scalar), 3);
    EXPECT_EQ(inputs.has_values, (std::vector<bool>{true, true, true}));
    EXPECT_TRUE(violations(contract(), inputs.input).empty());
  }
}

TEST(RunInputs, SizesFollowFromWhatIsGiven) {
  for (const std::vector<std::string>& way : std::vector<std::vector<std::string>>{
           {"x=4x7x16"}, {"s77=4", "s27=7"}, {"x.size(0)=4", "i.size(1)=7"}, {"i=4x7"}, {"i.npy", "x=4x7x16"}}) {
    const RunInputs inputs = made(way);
    EXPECT_EQ(inputs.input.inputs[0].sizes, (std::vector<int64_t>{4, 7, 16})) << way.front();
    EXPECT_EQ(inputs.input.inputs[1].sizes, (std::vector<int64_t>{4, 7})) << way.front();
    EXPECT_FALSE(inputs.has_values[0]);
  }
}

TEST(RunInputs, SizesMayBreakTheContract) {
  EXPECT_FALSE(violations(contract(), made({"x=4x7x16", "i=4x9"}).input).empty());
}

TEST(RunInputs, WhatIsWrongIsNamedWithWhatThePackageTakes) {
  const std::pair<std::vector<std::string>, std::string> bad[] = {
      {{}, "'x' is not given, and nothing says its size of dimension 0"},
      {{"s77=4"}, "dimension 1"},
      {{"y=3x5"}, "no input or size is called 'y'"},
      {{"x=x.npy", "x=4x7x16"}, "given twice"},
      {{"s77=4", "x.size(0)=5"}, "given twice"},
      {{"x.npy", "i.npy", "i.npy", "i.npy"}, "4 values are given"},
      {{"x=odd.npz"}, "none is called 'x'"},
      {{"n=x.npy"}, "not a value of that input"},
      {{"s77=-1"}, "not a size"},
      {{"s77=5", "x=4x7x16"}, "a size and an input disagree"},
      {{"raw.npy", "i.npy"}, "elements of 4 bytes"},
      {{"x="}, "nothing stands after the '='"},
      {{"x=-1"}, "no sizes (3x5, none negative), and no file"},
      {{"none.npy"}, "no such file"}};
  for (const auto& [arguments, why] : bad) EXPECT_THAT(refusal(arguments), HasSubstr(why));
  EXPECT_THAT(refusal({"y=3x5"}), HasSubstr("  x f32[x.size(0), x.size(1), 16]\n  i i64[x.size(0), x.size(1)]\n"));
}

TEST(RunInputs, AnotherDtypeIsKeptForTheContractToRefuse) {
  const RunInputs inputs = made({"x=i.npy", "i=i.npy"});
  EXPECT_EQ(inputs.input.inputs[0].dtype, Dtype::kI64);
  EXPECT_FALSE(violations(contract(), inputs.input).empty());
}

}  // namespace
}  // namespace aotifuzz
