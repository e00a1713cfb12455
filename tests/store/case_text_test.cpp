#include "store/case_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/support/arbitrary_case.h"

namespace aotifuzz {
namespace {

constexpr const char* kExample = R"(aotifuzz-case 1
# comments and blank lines are allowed

input x f32[4,7,16] normal(0,1,seed=1)
input i i64[4,7] ints(0,9,seed=2) at(3)=-1 strides=[1,4] offset=3
input y f32[4] view-of=x offset=2            # shares x's storage
input z f32[3] zero-tensor
input w u8[33] const(7) misaligned=1
input n int 3
input a float 0.5
input b bool true
input m none
run checks=on times=3 threads=2
)";

std::string printed_again(const std::string& text) {
  const Result<Case> c = parse_case(text);
  return c ? print_case(*c) : c.error().where + ": " + c.error().what;
}

/// `line` as the only input; the error, or "accepted".
std::string verdict_on(const std::string& line) {
  const Result<Case> c = parse_case("aotifuzz-case 1\ninput x f32[4] const(0)\n" + line + "\n");
  if (c) return "accepted";
  EXPECT_EQ(c.error().where, "line 3");
  return c.error().what;
}

RC_GTEST_PROP(CaseText, WhatIsPrintedReadsBackTheSame, ()) {
  const Case c = support::arbitrary_case();
  const std::string text = print_case(c);
  const Result<Case> back = parse_case(text);
  if (!back) RC_FAIL(back.error().where + ": " + back.error().what + "\n" + text);
  if (!(*back == c)) RC_FAIL(text);
  RC_ASSERT(print_case(*back) == text);
}

TEST(CaseText, AFileIsNamedWithItsTypeAndHash) {
  const std::string line = R"(input r f32[64,80] file("r%23 1.npy",bf16,hash=0123456789abcdef) at(0)=1.5)";
  const Result<Case> c = parse_case("aotifuzz-case 1\n" + line + "\n");
  ASSERT_TRUE(c) << c.error().what;
  const ValueRecipe& values = c->inputs[0].values;
  EXPECT_EQ(values.file->name, "r# 1.npy");
  EXPECT_EQ(values.file->dtype, Dtype::kBF16);
  EXPECT_EQ(values.file->hash, 0x0123456789abcdefu);
  EXPECT_FALSE(values.file->loaded);
  EXPECT_EQ(print_case(*c), "aotifuzz-case 1\n" + line + "\n");
  for (const char* bad : {R"(file(x.npy,f32,hash=0123456789abcdef))", R"(file("",f32,hash=0123456789abcdef))",
                          R"(file("x.npy",f31,hash=0123456789abcdef))", R"(file("x.npy",f32,hash=0123))",
                          R"(file("x.npy",f32))", R"(file("x%0",f32,hash=0123456789abcdef))",
                          R"(file("x%00",f32,hash=0123456789abcdef))", R"(file("x.npy",f32,hash=0123456789abcdefg))"})
    EXPECT_EQ(verdict_on(std::string("input y f32[4] ") + bad).find("expected file("), 0u) << bad;
}

RC_GTEST_PROP(CaseText, TextWithBytesChangedIsReadOrRefusedButNeverCrashes, ()) {
  std::string text = *rc::gen::arbitrary<bool>() ? std::string(kExample) : print_case(support::arbitrary_case());
  const int edits = *rc::gen::inRange(1, 8);
  for (int i = 0; i < edits; ++i) {
    const size_t at = *rc::gen::inRange<size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        text.erase(at, *rc::gen::inRange<size_t>(1, 6));
        break;
      default:
        text.insert(at, *rc::gen::elementOf(
                            std::vector<std::string>{"(", "[", "9999999999999999999", "-", "\n", "seed=", "inf", ","}));
    }
  }
  const Result<Case> c = parse_case(text);
  if (c)
    RC_ASSERT(parse_case(print_case(*c)).value() == *c);
  else
    RC_ASSERT(!c.error().where.empty() && !c.error().what.empty());
}

TEST(CaseText, TheExampleOfTheHeaderMeansWhatItSays) {
  const Case c = parse_case(kExample).value();
  ASSERT_EQ(c.inputs.size(), 9u);
  const CaseInput& i = c.inputs[1];
  EXPECT_EQ(i.dtype, Dtype::kI64);
  EXPECT_EQ(i.sizes, (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(i.strides, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(i.offset, 3);
  EXPECT_EQ(i.values, (ValueRecipe{ValueKind::kInts, {int64_t{0}, int64_t{9}}, 2, {{3, int64_t{-1}}}}));
  EXPECT_EQ(c.inputs[2].storage_of, "x");
  EXPECT_TRUE(c.inputs[3].zero_tensor);
  EXPECT_EQ(c.inputs[4].misalign_bytes, 1);
  EXPECT_TRUE(same_number(c.inputs[6].scalar, 0.5));
  EXPECT_EQ(c.inputs[8].kind, CaseInput::Kind::kNone);
  EXPECT_TRUE(c.input_checks);
  EXPECT_EQ(c.runs, 3);
  EXPECT_EQ(c.threads, 2);
}

TEST(CaseText, DefaultsAreNotPrinted) {
  Case c;
  c.inputs.resize(1);
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {2};
  EXPECT_EQ(print_case(c), "aotifuzz-case 1\ninput x f32[2] const(0)\n");
}

TEST(CaseText, NumbersKeepTheirKindAndTheirBits) {
  EXPECT_EQ(printed_again(
                "aotifuzz-case 1\ninput x f64[1] list(1,1.0,-0.0,0.1,1e22,inf,-inf,nan,5e-324,-9223372036854775808)\n"),
            "aotifuzz-case 1\ninput x f64[1] list(1,1.0,-0.0,0.1,1e+22,inf,-inf,nan,5e-324,-9223372036854775808)\n");
}

TEST(CaseText, OrderBlanksAndCarriageReturnsDoNotMatter) {
  EXPECT_EQ(printed_again(
                "\r\n  aotifuzz-case 1\r\ninput  x f32[ 2 , 3 ] offset = 1 at( 0 ) = 5 ints( 0 , seed = 4 , 9 )\r\n"),
            "aotifuzz-case 1\ninput x f32[2,3] ints(0,9,seed=4) at(0)=5 offset=1\n");
}

TEST(CaseText, BoolIsATensorWithBracketsAndAScalarWithout) {
  const Case c = parse_case("aotifuzz-case 1\ninput x bool [2] const(1)\ninput y bool true\n").value();
  EXPECT_EQ(c.inputs[0].kind, CaseInput::Kind::kTensor);
  EXPECT_EQ(c.inputs[0].dtype, Dtype::kBool);
  EXPECT_EQ(c.inputs[1].kind, CaseInput::Kind::kBool);
}

TEST(CaseText, AMissingLineEndAtTheEndIsFine) {
  EXPECT_EQ(printed_again("aotifuzz-case 1\ninput x f32[] const(1)"), "aotifuzz-case 1\ninput x f32[] const(1)\n");
}

TEST(CaseText, PlacesAndSurplusInputsAreKept) {
  const std::string text =
      "aotifuzz-case 1\ninput x f32[2] const(0) device=cpu\ninput y f32[2] const(0) device=cuda\n"
      "input z none\ninput e f32[1] const(0) surplus\n";
  EXPECT_EQ(printed_again(text), text);
  const Case c = parse_case(text).value();
  EXPECT_EQ(c.inputs[0].place, CasePlace::kHost);
  EXPECT_EQ(c.inputs[1].place, CasePlace::kDevice);
  EXPECT_TRUE(c.inputs[3].surplus);
  EXPECT_FALSE(c.inputs[0] == c.inputs[1]);
  EXPECT_EQ(verdict_on("input y f32[4] const(1) device=tpu"), "device is none of declared, cpu, cuda");
  EXPECT_EQ(verdict_on("input y f32[4] view-of=x device=cpu"),
            "input y: a view lies where its owner lies: device belongs there");
  EXPECT_EQ(parse_case("aotifuzz-case 1\ninput e f32[1] const(0) surplus\ninput x f32[1] const(0)\n").error().what,
            "input x follows one that is surplus: those come last");
}

TEST(CaseText, AStorageThatHoldsLittleMaySpanMore) {
  EXPECT_EQ(verdict_on("input y f64[4] const(1) offset=2147483648"), "accepted");
  EXPECT_EQ(verdict_on("input y f64[4] const(1) offset=17179869184"), "input y: larger than 64 GiB");
  EXPECT_EQ(verdict_on("input y f64[4] const(1) offset=2147483648 misaligned=8"), "input y: larger than 16 GiB");
  EXPECT_EQ(verdict_on("input y f64[65536] const(1) offset=2147483648"), "input y: larger than 16 GiB");
}

TEST(CaseText, WhatCouldNotBeRunIsRefusedWithTheReason) {
  EXPECT_EQ(verdict_on("input y f32[4] const(1)"), "accepted");
  EXPECT_EQ(verdict_on("input y f32[-4] const(1)"), "input y: a size is negative");
  EXPECT_EQ(verdict_on("input y f32[4,2] const(1) strides=[1]"), "input y: as many strides as sizes are needed");
  EXPECT_EQ(verdict_on("input y f32[4] const(1) strides=[-1]"), "input y: a stride is negative");
  EXPECT_EQ(verdict_on("input y f32[4294967296,4294967296] const(1)"), "input y: larger than 16 GiB");
  EXPECT_EQ(verdict_on("input y f32[4] const(1) strides=[9223372036854775807]"), "input y: larger than 64 GiB");
  EXPECT_EQ(verdict_on("input y f32[0] const(1) offset=9223372036854775807"), "input y: larger than 64 GiB");
  EXPECT_EQ(verdict_on("input y f32[4] view-of=z"), "input y: view-of z, which is no earlier input");
  EXPECT_EQ(verdict_on("input y f32[4] view-of=y"), "input y: view-of y, which is no earlier input");
  EXPECT_EQ(verdict_on("input y f32[4] view-of=x misaligned=1"),
            "input y: a view lies where its owner lies: misaligned belongs there");
  EXPECT_EQ(verdict_on("input x f32[4] const(1)"), "two inputs are named x");
  EXPECT_EQ(verdict_on("input y f31[4] const(1)"), "unknown dtype or kind of input: f31");
  EXPECT_EQ(verdict_on("input y unknown[4] const(1)"), "unknown dtype or kind of input: unknown");
  EXPECT_EQ(verdict_on("input y f32[4] gauss(1)"), "unknown recipe or option: gauss");
  EXPECT_EQ(verdict_on("input y f32[4] normal(1)"), "normal takes 2 numbers, not 1");
  EXPECT_EQ(verdict_on("input y f32[4] const(1,2)"), "const takes 1 numbers, not 2");
  EXPECT_EQ(verdict_on("input y f32[4] list()"), "list takes at least 1 numbers, not 0");
  EXPECT_EQ(verdict_on("input y f32[4] const(1,seed=2)"), "const takes no seed");
  EXPECT_EQ(verdict_on("input y f32[4]"), "no value recipe, for instance const(0)");
  EXPECT_EQ(verdict_on("input y f32[4] const(1) const(1)"), "a second value recipe: const");
  EXPECT_EQ(verdict_on("input y f32[4] const(1) offset=1 offset=2"), "offset given twice");
  EXPECT_EQ(verdict_on("input y f32[4] const(9223372036854775808)"), "expected a number in const(...)");
  EXPECT_EQ(verdict_on("input y f32[4] zero-tensor offset=1"),
            "input y: a zero-tensor has no storage: view-of, offset and misaligned mean nothing");
  EXPECT_EQ(verdict_on("input 4 f32[4] const(1)"), "expected the name of an input (letters, digits and '_')");
  EXPECT_EQ(verdict_on("input y int 3.0"), "expected an integer of 64 bits after int");
  EXPECT_EQ(verdict_on("input y none 3"), "unexpected text: 3");
  EXPECT_EQ(verdict_on("run times=0"), "times is not from 1 to 1000");
  EXPECT_EQ(verdict_on("run checks=maybe"), "checks is neither on nor off");
  EXPECT_EQ(verdict_on("inputs y f32[4] const(1)"), "expected input, then or run, not: inputs y f32[4] const(1)");
}

TEST(CaseText, TheExampleOfTheGrammarParses) {
  std::string text;
  bool example = false;
  std::ifstream header(std::string(AOTIFUZZ_SOURCE_DIR) + "/harness/store/case_text.h");
  for (std::string line; std::getline(header, line);) {
    example = (example || line == "///   aotifuzz-case 1") && line.starts_with("///   ");
    if (example) text += line.substr(6) + "\n";
  }
  const Result<Case> c = parse_case(text);
  ASSERT_TRUE(c) << c.error().what << ", " << c.error().where << "\n" << text;
  EXPECT_EQ(c->then.size(), 1u);
  EXPECT_EQ(c->constants, CaseConstants::kUpdated);
}

TEST(CaseText, FurtherCallsHaveInputsOfTheirOwn) {
  const std::string text =
      "aotifuzz-case 1\n"
      "input x f32[4] const(1.0)\n"
      "input y f32[4] view-of=x\n"
      "then\n"
      "input x f32[2] file(\"x.npy\",f32,hash=0123456789abcdef)\n"
      "input y f32[2] view-of=x\n"
      "then times=3\n"
      "input x f32[9] const(2.0)\n"
      "input y f32[9] const(3.0)\n"
      "run times=24 callers=2 constants=swapped\n";
  const Result<Case> c = parse_case(text);
  ASSERT_TRUE(c) << c.error().what << c.error().where;
  ASSERT_EQ(c->then.size(), 2u);
  EXPECT_EQ(c->inputs[0].sizes, (std::vector<int64_t>{4}));
  EXPECT_EQ(c->then[0].inputs[0].sizes, (std::vector<int64_t>{2}));
  EXPECT_EQ(c->then[1].times, 3);
  EXPECT_EQ(c->callers, 2);
  EXPECT_EQ(c->constants, CaseConstants::kSwapped);
  EXPECT_EQ(print_case(*c), text);
  EXPECT_EQ(c->call(1).inputs, c->then[1].inputs);
  EXPECT_TRUE(c->call(1).then.empty());
}

TEST(CaseText, FurtherCallsThatCannotBeAreRefused) {
  EXPECT_EQ(verdict_on("then twice"), "expected then, or then times=COUNT");
  EXPECT_EQ(verdict_on("then times=0"), "times is not from 1 to 1000");
  EXPECT_EQ(verdict_on("run callers=65"), "callers is not from 1 to 64");
  EXPECT_EQ(verdict_on("run constants=other"), "constants is none of exported, updated, swapped");
  const auto refused = [](const std::string& lines) {
    const Result<Case> c = parse_case("aotifuzz-case 1\ninput x f32[4] const(0)\n" + lines);
    return c ? "accepted" : c.error().where + ": " + c.error().what;
  };
  EXPECT_EQ(refused("then\ninput y f32[2] view-of=x"), "line 4: input y: view-of x, which is no earlier input");
  EXPECT_EQ(refused("then\ninput x int 1\ninput x int 1"), "line 5: two inputs are named x");
  std::string many;
  for (int i = 0; i < 65; ++i) many += "then\n";
  EXPECT_EQ(refused(many), "line 67: more than 64 further calls");
}

TEST(CaseText, AViewOfAViewNamesTheOwnerInstead) {
  const Result<Case> c =
      parse_case("aotifuzz-case 1\ninput x f32[4] const(1)\ninput y f32[4] view-of=x\ninput z f32[4] view-of=y\n");
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().what, "input z: view-of y, itself a view: name x");
}

TEST(CaseText, TheVersionComesFirst) {
  EXPECT_EQ(parse_case("").error().what, "the text is empty: the first line of a case is \"aotifuzz-case 1\"");
  EXPECT_EQ(parse_case("input x f32[1] const(1)").error().what, "the first line is not \"aotifuzz-case 1\"");
  EXPECT_EQ(parse_case("aotifuzz-case 2\n").error().what, "format version 2 is not known to this aotifuzz");
}

TEST(CaseText, AMessageShowsAtMostAShortPieceOfHostileText) {
  const Result<Case> c = parse_case("aotifuzz-case 1\n" + std::string(100000, '(') + "\x01\n");
  ASSERT_FALSE(c);
  EXPECT_LT(c.error().what.size(), 120u);
}

}  // namespace
}  // namespace aotifuzz
