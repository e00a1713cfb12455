#include "gate/size_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using nlohmann::json;

int64_t value(const char* tree, const SymbolValues& values) {
  const auto size = size_from_tree(json::parse(tree));
  return size ? (*size)->integer(values) : -999;
}

TEST(SizeTree, EachOperationMeansWhatPythonMeans) {
  const SymbolValues at{7, 3};
  const std::vector<std::pair<const char*, int64_t>> cases = {
      {"5", 5},
      {R"(["sym",1])", 3},
      {R"(["add",["sym",0],["sym",1],2])", 12},
      {R"(["mul",2,["sym",0],["sym",1]])", 42},
      {R"(["floordiv",["sym",0],["sym",1]])", 2},
      {R"(["floordiv",["mul",-1,["sym",0]],["sym",1]])", -3},
      {R"(["mod",["sym",0],["sym",1]])", 1},
      {R"(["max",1,["sym",0],["sym",1]])", 7},
      {R"(["min",["sym",0],["sym",1]])", 3},
      {R"(["pow",["sym",0],2])", 49},
      {R"(["eq",["sym",0],7])", 1},
      {R"(["ne",["sym",0],7])", 0},
      {R"(["lt",["sym",0],["sym",1]])", 0},
      {R"(["le",["sym",0],7])", 1},
      {R"(["gt",["sym",0],7])", 0},
      {R"(["ge",["sym",0],7])", 1},
      {R"(["and",["eq",["sym",0],7],["eq",["sym",1],4]])", 0},
      {R"(["or",["eq",["sym",0],7],["eq",["sym",1],4]])", 1},
      {R"(["not",["eq",["sym",0],7]])", 0},
      {R"(["ite",["gt",["sym",0],5],["sym",1],9])", 3},
      {R"(["ceil",["truediv",["sym",0],["sym",1]]])", 3},
      {R"(["floor",["truediv",["sym",0],["sym",1]]])", 2},
      {R"(["floor",["mul",["float",["sym",0]],2]])", 14},
  };
  for (const auto& [tree, expected] : cases) EXPECT_EQ(value(tree, at), expected) << tree;
}

TEST(SizeTree, WhatIsNoSizeIsAnError) {
  for (const char* tree :
       {"null", "1.5", "\"s0\"", "[]", "[\"sym\"]", "[\"sym\",-1]", "[\"sym\",\"a\"]", "[\"sym\",99999]", "[\"mod\",1]",
        "[\"not\",1,2]", "[\"gcd\",4,6]", "[3,4]", "{\"add\":1}", "[\"add\",1,null]"})
    EXPECT_FALSE(size_from_tree(json::parse(tree))) << tree;
  json deep = 1;
  for (int i = 0; i < 300; ++i) deep = json::array({"not", deep});
  EXPECT_FALSE(size_from_tree(deep));
}

}  // namespace
}  // namespace aotifuzz
