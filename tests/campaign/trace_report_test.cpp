#include "campaign/trace_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "store/trace_json.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TraceTensor tensor(uint64_t address, int64_t nans = 0) {
  TraceTensor out;
  out.name = "argument 1";
  out.dtype = "f32";
  out.sizes = {2, 3};
  out.address = address;
  out.has_stats = true;
  out.elements = 6;
  out.nans = nans;
  return out;
}

TraceCall call(int ordinal, const std::string& kernel, std::vector<TraceTensor> given, std::vector<TraceTensor> left) {
  TraceCall out;
  out.ordinal = ordinal;
  out.kernel = kernel;
  out.given = std::move(given);
  out.left = std::move(left);
  return out;
}

/// a -> b -> d, and c beside them.
std::vector<TraceCall> chain() {
  return {call(1, "cpp_a", {tensor(10)}, {tensor(11)}), call(2, "cpp_b", {tensor(11)}, {tensor(12, 1)}),
          call(3, "cpp_c", {tensor(10)}, {tensor(13)}), call(4, "cpp_d", {tensor(12, 1)}, {tensor(14, 6)})};
}

TEST(TraceReport, UpstreamIsWhatTheInputsComeFrom) {
  const std::vector<TraceCall> up = upstream(chain(), "cpp_d");
  ASSERT_THAT(up, SizeIs(3));
  EXPECT_EQ(up[0].kernel, "cpp_a");
  EXPECT_EQ(up[1].kernel, "cpp_b");
  EXPECT_EQ(up[2].kernel, "cpp_d");
  EXPECT_THAT(upstream(chain(), "nobody"), SizeIs(0));
}

TEST(TraceReport, TheLastWriterOfABufferIsTheOneThatCounts) {
  std::vector<TraceCall> trace = chain();
  trace.insert(trace.begin() + 2, call(3, "cpp_overwrites", {}, {tensor(12)}));
  EXPECT_EQ(upstream(trace, "cpp_d")[0].kernel, "cpp_overwrites");
}

TEST(TraceReport, TheFirstNanIsWhereItWasMade) {
  EXPECT_EQ(first_nan(chain()), "NaN first: call 2, cpp_b makes it of inputs without NaN");
  std::vector<TraceCall> trace = chain();
  trace[1].given[0].nans = 1;
  trace.pop_back();
  EXPECT_EQ(first_nan(trace), "NaN first: call 2, cpp_b, which was already given some");
  EXPECT_EQ(first_nan({trace[0]}), "no NaN in any tensor that was seen");
}

TEST(TraceReport, TextHasKernelsTensorsAndNumbers) {
  std::ostringstream out;
  std::vector<TraceCall> trace = chain();
  trace[1].verdict = "WRONG in add_4";
  trace[0].launch = "grid 4x1x1, block 128x1x1";
  trace[1].left[0].value = "add_4";
  trace[1].left[0].op = "aten.add.Tensor";
  trace[1].given[0].error = "exact";
  print_trace(trace, out);
  EXPECT_THAT(out.str(), HasSubstr("1  cpp_a  grid 4x1x1, block 128x1x1\n"));
  EXPECT_THAT(out.str(), HasSubstr("2  cpp_b  WRONG in add_4"));
  EXPECT_THAT(out.str(), HasSubstr("out  argument 1 = add_4 (aten.add.Tensor)  f32[2,3]"));
  EXPECT_THAT(out.str(), HasSubstr("NaN 1"));
  EXPECT_THAT(out.str(), HasSubstr("inherited: exact"));
}

TEST(TraceJson, ComesBackAsItWas) {
  std::vector<TraceCall> trace = chain();
  trace[0].verdict = "right";
  trace[0].launch = "grid 4x1x1, block 128x1x1";
  trace[0].left[0].file = "/tmp/x.npy";
  const auto back = parse_trace(trace_json(trace));
  ASSERT_TRUE(back);
  EXPECT_EQ(trace_json(*back).dump(), trace_json(trace).dump());
  EXPECT_EQ((*back)[0].launch, "grid 4x1x1, block 128x1x1");
  EXPECT_FALSE(parse_trace(nlohmann::json::object()));
  EXPECT_FALSE(parse_trace({1, 2}));
  EXPECT_TRUE(parse_trace({{{"kernel", 5}, {"ordinal", "x"}}}));  // fields of other types are left out
}

}  // namespace
}  // namespace aotifuzz
