#include "gate/unbacked_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/size_tree.h"

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TensorFacts tensor(const std::vector<const char*>& sizes) {
  TensorFacts facts;
  for (const char* size : sizes) {
    facts.sizes.push_back(*size_from_tree(nlohmann::json::parse(size)));
    facts.strides.push_back(SizeExpr::constant(1));
  }
  facts.offset = SizeExpr::constant(0);
  return facts;
}

/// One symbol of the call, which is 7; the unbacked ones follow it.
SymbolValues bind(const std::vector<UnbackedSize>& unbacked, const std::vector<TensorFacts>& meta,
                  const std::vector<TensorFacts>& kernel, std::vector<FactsDifference>* out) {
  return bind_unbacked({7}, unbacked, meta, kernel, out);
}

TEST(UnbackedSizes, TakeWhatTheKernelMade) {
  std::vector<FactsDifference> out;
  EXPECT_THAT(bind({{}}, {tensor({"[\"sym\",1]", "[\"sym\",0]"})}, {tensor({"5", "7"})}, &out), ElementsAre(7, 5));
  EXPECT_THAT(out, IsEmpty());
}

TEST(UnbackedSizes, AreFoundInsideAnExpression) {
  std::vector<FactsDifference> out;
  const auto twice = tensor({R"(["add",["mul",2,["sym",1]],1])"});
  EXPECT_THAT(bind({{}}, {twice}, {tensor({"11"})}, &out), ElementsAre(7, 5));
  // No value makes it even: what it is bound to disagrees, whatever it is.
  const SymbolValues odd = bind({{}}, {twice}, {tensor({"12"})}, &out);
  EXPECT_NE(twice.sizes[0]->integer(odd), 12);
}

TEST(UnbackedSizes, AreTheSameInEveryOutput) {
  std::vector<FactsDifference> out;
  const std::vector<TensorFacts> meta{tensor({"[\"sym\",1]"}), tensor({"[\"sym\",1]"})};
  const std::vector<TensorFacts> kernel{tensor({"5"}), tensor({"6"})};
  const SymbolValues values = bind({{}}, meta, kernel, &out);
  ASSERT_THAT(values, ElementsAre(7, 5));
  const auto differences = compare_facts(meta, kernel, values, {});
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].output, 1);
  EXPECT_EQ(differences[0].kind, "meta-wrong-size");
}

TEST(UnbackedSizes, OutsideTheirRangeAreADifference) {
  std::vector<FactsDifference> out;
  bind({{.min = 2, .max = 4}}, {tensor({"[\"sym\",1]"})}, {tensor({"1"})}, &out);
  bind({{.min = 2, .max = 4}}, {tensor({"[\"sym\",1]"})}, {tensor({"4"})}, &out);
  bind({{.min = 2, .max = 4}}, {tensor({"[\"sym\",1]"})}, {tensor({"5"})}, &out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].meta, "u0 >= 2");
  EXPECT_EQ(out[0].kernel, "u0 = 1");
  EXPECT_EQ(out[1].meta, "u0 <= 4");
}

TEST(UnbackedSizes, OfAnotherRankAreLeftToTheComparison) {
  std::vector<FactsDifference> out;
  const std::vector<TensorFacts> meta{tensor({"[\"sym\",1]"})}, kernel{tensor({"5", "2"})};
  EXPECT_EQ(compare_facts(meta, kernel, bind({{}}, meta, kernel, &out), {}).size(), 1u);
}

}  // namespace
}  // namespace aotifuzz
