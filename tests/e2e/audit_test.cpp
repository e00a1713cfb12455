// `aotifuzz audit` on real packages: with a missing guard, and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Audit : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::path(::testing::TempDir()) / "aotifuzz-audit-e2e").string();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  json audited(const std::string& package, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"audit", package, "--json", "--out", folder_ + "/out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = aotifuzz(arguments);
    exit_code_ = ended.exit_code;
    return json::parse(ended.out, nullptr, false);
  }
  static json item(const json& report, const std::string& name) {
    for (const json& one : report["items"])
      if (one["name"] == name) return one;
    ADD_FAILURE() << "no item " << name;
    return {};
  }
  static int unsafe_inside(const json& report) {
    int count = 0;
    for (const json& one : report["items"])
      for (const json& line : one["lines"]) count += line["verdict"] == "unsafe" && line["inside_contract"] == true;
    return count;
  }

  std::string folder_;
  int exit_code_ = -1;
};

TEST_F(Audit, PrintsTheGuardThatIsMissingWithACaseThatReplays) {
  PACKED(package, "faults.f137748_even_sizes");
  const json report = audited(package, {"--fail-on", "unsafe", "--html", folder_ + "/audit.html"});
  EXPECT_EQ(exit_code_, 1);
  const json odd = item(report, "x.size(0) % 2 == 0");
  ASSERT_EQ(odd["verdict"], "unsafe") << report.dump(1);
  EXPECT_EQ(odd["enforced_checks_off"], "not refused");
  const json line = odd["lines"][0];
  EXPECT_EQ(line["guard"]["python"][0], "torch._check(x.size(0) % 2 == 0)");
  EXPECT_THAT(line["guard"]["cpp"].get<std::string>(), HasSubstr("TORCH_CHECK("));
  EXPECT_EQ(line["reproduced"], 3);
  // Beyond the range that is declared the package is right: no harm, no line.
  EXPECT_EQ(item(report, "x.size(0) <= 200")["verdict"], "ok");
  EXPECT_EQ(unsafe_inside(report), 0);
  const Ended replayed = aotifuzz({"replay", line["folder"], "--fail-on", "gaps"});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.err;
  EXPECT_THAT(read(folder_ + "/audit.html"), HasSubstr("torch._check(x.size(0) % 2 == 0)"));
}

TEST_F(Audit, ComparesSizesOfTwoInputs) {
  PACKED(package, "faults.equal_sizes_unchecked");
  const json report = audited(package);
  EXPECT_EQ(exit_code_, 0);  // without --fail-on
  EXPECT_EQ(item(report, "idx.size(1) == x.size(1)")["verdict"], "unsafe");
  EXPECT_EQ(item(report, "x.size(0)")["verdict"], "too strict");
  EXPECT_THAT(item(report, "x.size(0)")["enforced_checks_on"].get<std::string>(), HasSubstr("refuses 0..1"));
  EXPECT_EQ(unsafe_inside(report), 0);
  for (const json& one : report["items"])
    for (const json& line : one["lines"])
      if (line["verdict"] == "unsafe") EXPECT_EQ(line["reproduced"], line["tries"]) << one["name"];
}

TEST_F(Audit, FindsTheSizeInsideTheContractThatKills) {
  PACKED(package, "faults.attention_without_tokens");
  const json report = audited(package);
  const json tokens = item(report, "q.size(2)");
  ASSERT_EQ(tokens["verdict"], "unsafe") << report.dump(1);
  EXPECT_EQ(tokens["lines"][0]["what"], "q.size(2) = 0");
  EXPECT_EQ(tokens["lines"][0]["inside_contract"], true);
  EXPECT_EQ(tokens["lines"][0]["guard"]["cpp"], "TORCH_CHECK(q.size(2) >= 1, \"q.size(2) >= 1\");");
}

TEST_F(Audit, SaysWhereTheExportedProgramIsNoJudge) {
  PACKED(package, "faults.f150364_branch_on_size");
  const json guard = item(audited(package), "x.size(0) >= 6");
  ASSERT_EQ(guard["verdict"], "unjudged");
  EXPECT_EQ(guard["lines"][0]["guard"]["python"][0], "torch._check(x.size(0) >= 6)");
  // A range that the user declared is no guard of the trace.
  PACKED(declared, "faults.f137748_even_sizes");
  EXPECT_EQ(item(audited(declared), "x.size(0) <= 200")["verdict"], "ok");
}

TEST_F(Audit, FindsIndicesThatWrapAround) {
  PACKED(package, "faults.f121251_index_select_negative_index");
  const json values = item(audited(package), "idx: values from 0 to x.size(0) - 1");
  ASSERT_EQ(values["verdict"], "unsafe");
  EXPECT_EQ(values["lines"][0]["class"], "misses-error");
  EXPECT_EQ(values["lines"][0]["inside_contract"], false);
}

TEST_F(Audit, HasNothingUnsafeInsideTheContractOfACleanModel) {
  for (const char* name : {"example.embedding_mlp", "clean.topk_sort_kthvalue", "real.gpt2"}) {
    PACKED(package, name);
    const json report = audited(package, {"--time", "30s"});
    EXPECT_EQ(unsafe_inside(report), 0) << name << report.dump(1);
    EXPECT_EQ(item(report, "inputs as declared")["verdict"], "ok") << name;
  }
}

TEST_F(Audit, CallsWithOtherInputsAndReachesBeyond32Bits) {
  PACKED(package, "example.embedding_mlp");
  const json report = audited(package, {"--time", "30s"});
  // The loader counts what it is given, with both versions of torch.
  EXPECT_EQ(item(report, "number of inputs as exported")["enforced_checks_off"], "refused");
  EXPECT_EQ(item(report, "idx: a tensor, not None")["enforced_checks_off"], "refused");
  EXPECT_EQ(item(report, "x: elements beyond 2^31")["safe"], "right in 1 of 1");
  EXPECT_EQ(item(report, "idx: elements beyond 2^31")["safe"], "right in 1 of 1");
  EXPECT_EQ(item(report, "indices of 2 generated kernels")["safe"], "64 bits");
  EXPECT_EQ(report["not_judged"].size(), 0u) << report["not_judged"].dump();
}

TEST_F(Audit, ReducesTheCasesOfUnsafeLines) {
  PACKED(package, "faults.attention_without_tokens");
  const json report = audited(package);
  EXPECT_EQ(report["reduced"], report["counts"]["unsafe"]) << report.dump(1);
  EXPECT_EQ(report["reduction_cut_short"], 0);
  const json line = item(report, "q.size(2)")["lines"][0];
  EXPECT_EQ(line["one_minimal"], true);
  EXPECT_THAT(line["case"].get<std::string>(), HasSubstr("input q f32[1,"));
  const Ended replayed = aotifuzz({"replay", line["folder"]});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.err;
}

TEST_F(Audit, WhatItDidNotTryIsListed) {
  PACKED(package, "example.embedding_mlp");
  const json report = audited(package, {"--time", "1ms"});
  EXPECT_EQ(exit_code_, report["cases"] == 0 ? 3 : 0) << "trying nothing is no success";
  EXPECT_EQ(report["out_of_time"], true);
  std::vector<std::string> why;
  for (const json& one : report["not_tried"]) why.push_back(one["why"]);
  EXPECT_THAT(why, Contains("no time left"));
  EXPECT_THAT(why, Contains("not run: the package is for the CPU"));
}

TEST_F(Audit, RefusesWrongUse) {
  EXPECT_EQ(aotifuzz({"audit", "x.pt2", "--fail-on", "gaps"}).exit_code, 2);
  EXPECT_EQ(aotifuzz({"audit", "x.pt2", "--checks", "maybe"}).exit_code, 2);
  EXPECT_EQ(aotifuzz({"audit", "x.pt2", "--time", "soon"}).exit_code, 2);
  EXPECT_EQ(aotifuzz({"audit", folder_ + "/none.pt2"}).exit_code, 3);
}

}  // namespace
}  // namespace aotifuzz::test
