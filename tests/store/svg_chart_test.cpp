#include "store/svg_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SvgChart, SpansFromZeroToTheLargest) {
  const std::string svg = svg_chart("cells <covered>", {{0, 0}, {30, 5}, {60, 10}}, "a/s");
  EXPECT_THAT(svg, HasSubstr("cells &lt;covered&gt;: 10 a/s at most"));
  EXPECT_THAT(svg, HasSubstr("points=\"4.0,102.0 210.0,62.0 416.0,22.0\""));
  EXPECT_THAT(svg, HasSubstr(">60 s<"));
}

TEST(SvgChart, WhatHasNoCourseIsNotDrawn) {
  EXPECT_EQ(svg_chart("x", {}, ""), "");
  EXPECT_EQ(svg_chart("x", {{1, 1}}, ""), "");
  EXPECT_THAT(svg_chart("x", {{0, 0}, {0, 0}}, ""), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace aotifuzz
